import fc from 'fast-check';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { schemaToType } from './schema-to-type.ts';

function isValid(type: string): boolean {
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
  expect(isValid(type)).toBe(true);
});

test('[TYPE-3] large and endless schemas become types of bounded size', () => {
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
      expect(isValid(type), type).toBe(true);
    }),
    { seed: proofSeed(), numRuns: proofRuns(10_000) },
  );
});
