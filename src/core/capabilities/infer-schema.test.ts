import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { inferSchema, mergeSchemas } from './infer-schema.ts';
import { checkArguments } from './validate-arguments.ts';

/** Few names and many kinds, so that values meet each other. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      fc.string({ maxLength: 2 }),
      fc.integer(),
      fc.double({ noNaN: true }),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'toString'), tie('value'), { maxKeys: 3 }),
    fc
      .nat(60)
      .map((size) => Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, index]))),
  ),
}));
const proof = () => ({ seed: proofSeed(), numRuns: proofRuns(5000) });

test('[TYPE-1] a schema is inferred from a value, and claims no more than was seen', () => {
  expect(inferSchema({ id: 1, tags: ['a'], size: 1.5, gone: undefined, none: null, empty: [] })).toEqual({
    type: 'object',
    properties: {
      id: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
      size: { type: 'number' },
      none: { type: 'null' },
      empty: { type: 'array' },
    },
    required: ['empty', 'id', 'none', 'size', 'tags'],
  });
  expect(inferSchema([{ a: 1 }, { a: 'x', b: true }])).toEqual({
    type: 'array',
    items: {
      type: 'object',
      properties: { a: { type: ['string', 'integer'] }, b: { type: 'boolean' } },
      required: ['a'],
    },
  });
});

test('[TYPE-1] a stored schema, a missing one and a damaged one merge with what is seen', () => {
  expect(mergeSchemas(null, { type: 'string' })).toEqual({ type: 'string' });
  expect(mergeSchemas({ type: 'string' }, undefined)).toEqual({ type: 'string' });
  expect(mergeSchemas('damaged', { type: 'string' })).toEqual({});
  expect(mergeSchemas({ type: 'integer' }, { type: 'number' })).toEqual({ type: 'number' });
});

test('[TYPE-1] the schema of many values accepts each of them', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), (values) => {
      const schema = values.map(inferSchema).reduce(mergeSchemas);
      for (const one of values) expect(checkArguments(schema, one)).toEqual([]);
    }),
    proof(),
  );
});

test('[TYPE-1] the order of merging does not matter, and merging again changes nothing', () => {
  fc.assert(
    fc.property(value, value, value, (one, two, three) => {
      const [a, b, c] = [inferSchema(one), inferSchema(two), inferSchema(three)];
      const both = mergeSchemas(a, b);
      expect(mergeSchemas(b, a)).toEqual(both);
      expect(mergeSchemas(both, a)).toEqual(both);
      expect(mergeSchemas(a, a)).toEqual(a);
      expect(mergeSchemas(both, c)).toEqual(mergeSchemas(a, mergeSchemas(b, c)));
    }),
    proof(),
  );
});

test('[TYPE-2] a value of any size gives a schema of bounded size', () => {
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`id${index}`, { n: index }]));
  expect(inferSchema(wide)).toMatchObject({ type: 'object', additionalProperties: {} });
  expect(inferSchema(wide)).not.toHaveProperty('properties');
  let deep: unknown = 1;
  for (let level = 0; level < 10_000; level++) deep = { deep };
  expect(JSON.stringify(inferSchema(deep)).length).toBeLessThan(1000);
  const bushy = (level: number): unknown =>
    level === 0
      ? 1
      : Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`k${index}`, bushy(level - 1)]));
  expect(JSON.stringify(inferSchema(bushy(5))).length).toBeLessThan(200_000);
  expect(inferSchema(() => {})).toEqual({});
});
