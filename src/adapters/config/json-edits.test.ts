import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { removeProperty, setProperty } from './edit-config.ts';

const FILE = `{
  // settings
  "a": [1,2],
  "mcpServers": {
    // the code host
    "github": { "command": "x" }, // mine
    "b": { "command": "y" }, // of b
  },
  "z": 1 /* last */
}
`;

describe('[SRVCMD-2] a change leaves every other character in place', () => {
  test('a new property goes after the last one and its comment, with a trailing comma if the others have one', () => {
    expect(setProperty(FILE, ['mcpServers', 'c'], { command: 'z', args: ['1'] })).toBe(
      FILE.replace(
        '// of b\n',
        '// of b\n    "c": {\n      "command": "z",\n      "args": [\n        "1"\n      ]\n    },\n',
      ),
    );
    expect(setProperty(FILE, ['y'], 2)).toBe(
      FILE.replace('"z": 1 /* last */\n', '"z": 1, /* last */\n  "y": 2\n'),
    );
  });

  test('an existing property gets another value', () => {
    expect(setProperty(FILE, ['mcpServers', 'github', 'command'], 'other')).toBe(
      FILE.replace('"x"', '"other"'),
    );
    expect(setProperty(FILE, ['mcpServers', 'b'], { url: 'u' })).toBe(
      FILE.replace('{ "command": "y" }', '{\n      "url": "u"\n    }'),
    );
  });

  test('missing parent objects are created', () => {
    expect(setProperty('{}', ['a', 'b'], 1)).toBe('{\n  "a": {\n    "b": 1\n  }\n}');
    expect(setProperty('{\n  // nothing yet\n}\n', ['a'], 1)).toBe('{\n  // nothing yet\n  "a": 1\n}\n');
    expect(setProperty('{"a": null}', ['a', 'b'], 1)).toBe('{"a": {\n  "b": 1\n}}');
  });

  test('a file on one line stays on one line', () => {
    const flat = '{"mcpServers":{"a":{"command":"x"}},"o":1}';
    expect(setProperty(flat, ['mcpServers', 'b'], { url: 'u' })).toBe(
      '{"mcpServers":{"a":{"command":"x"}, "b": {"url":"u"}},"o":1}',
    );
    expect(removeProperty(flat, ['mcpServers', 'a'])).toBe('{"mcpServers":{},"o":1}');
    expect(removeProperty(flat, ['o'])).toBe('{"mcpServers":{"a":{"command":"x"}}}');
  });

  test('tabs and Windows line endings are kept', () => {
    const tabs = '{\r\n\t"a": 1\r\n}\r\n';
    expect(setProperty(tabs, ['b'], { c: 2 })).toBe(
      '{\r\n\t"a": 1,\r\n\t"b": {\r\n\t\t"c": 2\r\n\t}\r\n}\r\n',
    );
    expect(removeProperty('{\r\n\t"a": 1,\r\n\t"b": 2\r\n}\r\n', ['b'])).toBe('{\r\n\t"a": 1\r\n}\r\n');
  });

  test('a removed property takes its line and the comment on it with it', () => {
    expect(removeProperty(FILE, ['mcpServers', 'github'])).toBe(
      FILE.replace('    "github": { "command": "x" }, // mine\n', ''),
    );
    expect(removeProperty(FILE, ['z'])).toBe(FILE.replace('},\n  "z": 1 /* last */\n', '}\n'));
    expect(removeProperty(FILE, ['nowhere', 'x'])).toBe(FILE);
  });

  test('removing everything and adding one property gives valid text, wherever the commas were', () => {
    for (const text of [
      FILE,
      '{"mcpServers": {\n  "github": 1\n, "b": 2 }}',
      '{"mcpServers": { "github": 1, /* c */ "b": 2, }}',
      '{"mcpServers": {"github":{},"github":{},"b":[\n1]}}',
    ]) {
      let after = removeProperty(text, ['mcpServers', 'github']);
      expect(Object.keys(parse(after).mcpServers)).toEqual(['b']);
      after = removeProperty(after, ['mcpServers', 'b']);
      after = setProperty(after, ['mcpServers', 'pml'], { command: 'n' });
      const errors: never[] = [];
      expect(parse(after, errors, { allowTrailingComma: true }).mcpServers).toEqual({
        pml: { command: 'n' },
      });
      expect(errors).toEqual([]);
    }
  });
});
