import fc from 'fast-check';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { toolId } from '../vocabulary/ids.ts';
import { capabilitySignature, schemaToType, toolSignature } from './tool-signature.ts';

/** A signature is what a declaration would say after its name. */
function isValid(signature: string): boolean {
  const declared = signature.replace(/^(mcp|capabilities)[^(]*\(/m, 'declare function f(');
  return declared !== signature && parseSync('declared.ts', declared).errors.length === 0;
}

const tool = (name: string, rest: object = {}) => ({
  id: toolId('filesystem', name),
  server: 'filesystem',
  name,
  description: 'Reads a file.',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, head: { type: 'number' } },
    required: ['path'],
  },
  definitionHash: '',
  ...rest,
});

test.each([
  [
    'with its declared output',
    toolSignature(
      tool('read_text_file', {
        outputSchema: { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] },
      }),
      { type: 'string' },
    ),
    '/** Reads a file. */\nmcp.filesystem.read_text_file(args: { path: string; head?: number }): Promise<{ content: string }>',
  ],
  [
    'with what it gave so far',
    toolSignature(tool('read_text_file'), { type: ['string', 'null'] }),
    '/** Reads a file. */\nmcp.filesystem.read_text_file(args: { path: string; head?: number }): Promise<string | null> // output type observed, not declared',
  ],
  [
    'under a name that is not an identifier, when nothing is known',
    toolSignature(tool('get-sum', { description: '', server: '2nd' })),
    'mcp["2nd"]["get-sum"](args: { path: string; head?: number }): Promise<unknown>',
  ],
  [
    'without arguments',
    toolSignature(tool('list', { inputSchema: { type: 'object', properties: {} }, description: 'a\n*/ b' })),
    '/** a * / b */\nmcp.filesystem.list(): Promise<unknown>',
  ],
  [
    'with arguments that may be left out',
    toolSignature(tool('list', { inputSchema: { properties: { n: { type: 'number' } } }, description: '' })),
    'mcp.filesystem.list(args?: { n?: number }): Promise<unknown>',
  ],
  [
    'with any arguments',
    toolSignature(tool('list', { inputSchema: null, description: '' })),
    'mcp.filesystem.list(args?: Record<string, unknown>): Promise<unknown>',
  ],
])('[TYPE-4] a tool is shown the way code calls it: %s', (_, signature, expected) => {
  expect(signature).toBe(expected);
  expect(isValid(signature)).toBe(true);
});

test('[TYPE-4] a long description is cut', () => {
  const signature = toolSignature(tool('read', { description: 'word '.repeat(1000) }));
  expect(signature.split('\n')[0]).toHaveLength('/** '.length + 200 + ' */'.length);
});

test('[TYPE-5] a capability is shown the way code calls it', () => {
  const signature = capabilitySignature({
    slug: 'count_words',
    description: 'Counts words.',
    parametersSchema: {
      type: 'object',
      properties: { path: { type: 'string', default: 'a' } },
      required: [],
    },
    outputSchema: { type: 'integer' },
  });
  expect(signature).toBe(
    '/** Counts words. */\ncapabilities.count_words(args?: { path?: string }): Promise<number> // output type observed, not declared',
  );
  expect(isValid(signature)).toBe(true);
});

function isType(type: string): boolean {
  const { errors, program } = parseSync('type.ts', `type T = ${type};`);
  return errors.length === 0 && program.body.length === 1;
}

const node = {
  $ref: '#/$defs/node',
  $defs: {
    node: { properties: { id: { type: 'string' }, next: { $ref: '#/$defs/node' } }, required: ['id'] },
  },
};

test.each<[unknown, string]>([
  [{ type: 'string' }, 'string'],
  [{ type: 'integer' }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: 'string', nullable: true }, 'string | null'],
  [{ type: 'array', items: { type: ['string', 'number'] } }, '(string | number)[]'],
  [{ type: 'array' }, 'unknown[]'],
  [{ prefixItems: [{ type: 'string' }, { type: 'number' }], items: false }, '[string, number]'],
  [{ items: [{ type: 'string' }], additionalItems: { type: 'number' } }, '[string, ...number[]]'],
  [{ enum: ['a', 1, null, true] }, '"a" | 1 | null | true'],
  [{ const: 'x' }, '"x"'],
  [{ enum: ['a'], type: 'string', description: 'ignored at the top' }, '"a"'],
  [
    {
      type: 'object',
      properties: { path: { type: 'string' }, head: { type: 'number' } },
      required: ['path'],
    },
    '{ path: string; head?: number }',
  ],
  [
    { properties: { 'a-b': { description: 'One\n *two* */ three', type: 'string' } } },
    '{ "a-b"?: string /* One *two* * / three */ }',
  ],
  [{ type: 'object' }, 'Record<string, unknown>'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
  [{ type: 'object', additionalProperties: false }, '{}'],
  [
    { properties: { a: true }, additionalProperties: { type: 'number' } },
    '{ a?: unknown; [key: string]: unknown }',
  ],
  [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'string | string[]'],
  [
    { type: 'object', oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }] },
    '{ a?: unknown } | { b?: unknown }',
  ],
  [{ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }, '{ a?: unknown } & { b?: unknown }'],
  [
    { allOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, { enum: [1, 2] }] },
    '(string | number) & (1 | 2)',
  ],
  [node, '{ id: string; next?: unknown }'],
  [
    { properties: { a: { $ref: '#/properties/b~1c' }, 'b/c': { type: 'null' } } },
    '{ a?: null; "b/c"?: null }',
  ],
  [{ $ref: 'https://example.org/other' }, 'unknown'],
  [true, 'unknown'],
  [false, 'never'],
  [null, 'unknown'],
  [{ type: 'weird' }, 'unknown'],
  [{ type: 'toString' }, 'unknown'],
])('[TYPE-3] %j becomes %s', (schema, type) => {
  expect(schemaToType(schema)).toBe(type);
  expect(isType(type)).toBe(true);
});

test('[TYPE-3] large and infinite schemas become types of bounded size', () => {
  const values = Array.from({ length: 100 }, (_, index) => `v${index}`);
  expect(schemaToType({ enum: values })).toMatch(/^"v0" \| .*"v39" \| string \/\* and 60 more \*\/$/);
  const wide = { properties: Object.fromEntries(values.map((name) => [name, { type: 'string' }])) };
  expect(schemaToType(wide)).toMatch(/v39\?: string \/\* and 60 more \*\/ \}$/);
  let deep: object = {};
  for (let level = 0; level < 1000; level++) deep = { items: deep };
  expect(schemaToType(deep)).toBe('unknown[][][][][][][]');
  const doubled: Record<string, unknown> = {};
  for (let level = 1; level < 60; level++) {
    const ref = { $ref: `#/$defs/d${level - 1}` };
    doubled[`d${level}`] = { type: 'object', properties: { a: ref, b: ref } };
  }
  expect(schemaToType({ $ref: '#/$defs/d59', $defs: doubled }).length).toBeLessThan(10_000);
  expect(schemaToType({ const: 'x'.repeat(1000) })).toBe('string');
});

test('[TYPE-3] any schema, however weird, becomes valid TypeScript', () => {
  const keyword = fc.constantFrom(
    ...'type properties required items prefixItems additionalProperties additionalItems anyOf oneOf allOf'.split(
      ' ',
    ),
    ...'enum const $ref $defs description nullable'.split(' '),
  );
  const word = fc.constantFrom(
    'string',
    'object',
    'array',
    'integer',
    '#',
    '#/$defs',
    '#/$defs/items',
    '*/',
    '`${',
    '\u2028',
  );
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(word, fc.string(), fc.boolean(), fc.double(), fc.constant(null)),
      fc.dictionary(fc.oneof({ weight: 4, arbitrary: keyword }, fc.string()), tie('schema'), { maxKeys: 4 }),
      fc.array(tie('schema'), { maxLength: 3 }),
    ),
  }));
  fc.assert(
    fc.property(schema, (one) => {
      const type = schemaToType(one);
      expect(isType(type), type).toBe(true);
    }),
    { seed: proofSeed(), numRuns: proofRuns(10_000) },
  );
});
