import { expect, test } from 'vitest';
import { splitTables } from './toml-tables.ts';

test('[INIT-8] a TOML text is cut at its headers and nowhere else', () => {
  const text = [
    '# head',
    'a = """',
    '[no.header]',
    'x \\""" [',
    '"""',
    "b = '''",
    "[nor] this '''",
    'c = [',
    '  [1, 2], # [comment',
    '  "]",',
    ']',
    '# of x',
    '  [x."y.z"] # real',
    'd = { e = "[" }',
    '',
    '[[list]]',
    'f = 1',
  ].join('\n');
  const tables = splitTables(text);
  expect(tables.map(({ name }) => name)).toEqual([[], ['x', 'y.z'], ['list']]);
  expect(tables[1]?.lead).toBe('# of x\n');
  expect(tables.map((table) => table.lead + table.text).join('')).toBe(text);
  expect(splitTables('')).toEqual([{ name: [], lead: '', text: '' }]);
});
