import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofRuns, proofSeed } from '../../../test/proof-count.ts';
import { applyDefaults, checkArguments } from './validate-arguments.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    head: { type: 'integer', minimum: 1 },
    mode: { enum: ['fast', 'slow'] },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    filter: {
      type: 'object',
      properties: {
        'a/b': { type: ['string', 'number'] },
        items: { type: 'array', items: { type: 'boolean' } },
      },
      required: ['a/b'],
    },
  },
  required: ['path'],
  additionalProperties: false,
};

test.each([
  [{ path: 'a' }, []],
  [{ path: 'a', head: 2, mode: 'fast', note: null, filter: { 'a/b': 1 } }, []],
  [{}, ['"path" is missing']],
  [{ pth: 'a' }, ['"path" is missing', '"pth" is unknown']],
  [{ path: 5 }, ['"path" must be a string, not a number']],
  [{ path: undefined }, ['"path" is missing']],
  [{ path: 'a', head: 1.5 }, ['"head" must be a whole number, not a fraction']],
  [{ path: 'a', head: 0 }, ['"head" must be at least 1']],
  [{ path: 'a', mode: 'x' }, ['"mode" must be one of "fast","slow"']],
  [{ path: 'a', note: 1 }, ['"note" must be a string or null, not a number']],
  [{ path: 'a', filter: {} }, ['"filter.a/b" is missing']],
  [{ path: 'a', filter: { 'a/b': [] } }, ['"filter.a/b" must be a string or a number, not a list']],
  [
    { path: 'a', filter: { 'a/b': '', items: [true, 1] } },
    ['"filter.items[1]" must be a boolean, not a number'],
  ],
  ['text', ['must be an object, not a string']],
])('[CAP-9] wrong arguments are reported in plain words with their place: %j', (args, problems) => {
  expect(checkArguments(SCHEMA, args)).toEqual(problems);
});

test('[CAP-9] schemas of any draft are understood, and are not changed', () => {
  const draft = (name: string, rest: object) => ({
    $schema: `http://json-schema.org/${name}/schema#`,
    ...rest,
  });
  const above = { exclusiveMinimum: true, minimum: 3 };
  expect(checkArguments(draft('draft-04', above), 3)).toHaveLength(1);
  expect(checkArguments(draft('draft-07', { exclusiveMinimum: 3 }), 3)).toHaveLength(1);
  const tuple = { items: [{ type: 'string' }, { type: 'number' }], additionalItems: false };
  expect(checkArguments(draft('draft-07', tuple), ['a', 1])).toEqual([]);
  expect(checkArguments(draft('draft-07', tuple), ['a', 'b', 1])).toHaveLength(2);
  const modern = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['id'] } },
    $ref: '#/$defs/node',
    prefixItems: [{ type: 'string' }],
  };
  const before = JSON.stringify(modern);
  expect(checkArguments(modern, { id: 1, next: { id: 2, next: {} } })).toEqual(['"next.next.id" is missing']);
  expect(JSON.stringify(modern)).toBe(before);
  expect(Object.getOwnPropertyNames(modern.$defs.node)).toEqual(['type', 'properties', 'required']);
  const openApi = { properties: { a: { type: 'string', nullable: true } } };
  expect(checkArguments(openApi, { a: null })).toEqual([]);
  expect(checkArguments(openApi, { a: 1 })).toEqual(['"a" must be null or a string, not a number']);
});

test.each([
  [{ const: 'a' }, 'b', 'must be "a"'],
  [{ maximum: 3 }, 4, 'must be at most 3'],
  [{ exclusiveMinimum: 3 }, 3, 'must be more than 3'],
  [{ exclusiveMaximum: 3 }, 3, 'must be less than 3'],
  [{ multipleOf: 2 }, 3, 'must be a multiple of 2'],
  [{ minLength: 2 }, 'a', 'must have at least 2 characters'],
  [{ maxLength: 1 }, 'ab', 'must have at most 1 characters'],
  [{ minItems: 1 }, [], 'must have at least 1 items'],
  [{ maxItems: 0 }, [1], 'must have at most 0 items'],
  [{ minProperties: 1 }, {}, 'must have at least 1 properties'],
  [{ maxProperties: 0 }, { a: 1 }, 'must have at most 0 properties'],
  [{ contains: { type: 'string' } }, [1], 'has no item of the required form'],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, '"b" is missing: "a" needs it'],
  [{ enum: ['a is invalid. Expected "', ']'] }, 1, 'must be one of "a is invalid. Expected \\"","]"'],
])('[CAP-9] the message comes from the schema, whatever it contains: %j', (schema, value, problem) => {
  expect(checkArguments(schema, value)).toContain(problem);
});

test('[CAP-9] inherited properties do not count as given', () => {
  const schema = { properties: { toString: { type: 'string' } }, required: ['constructor'] };
  expect(checkArguments(schema, {})).toEqual(['"constructor" is missing']);
});

test('[CAP-9] problems of a single value are reported without a place', () => {
  expect(checkArguments({ type: 'number' }, 'x')).toEqual(['must be a number, not a string']);
  expect(
    checkArguments(
      {
        oneOf: [
          { type: 'object', required: ['a'] },
          { type: 'object', required: ['b'] },
        ],
      },
      {},
    ),
  ).toEqual(['fits none of the forms it may have']);
  expect(checkArguments({ oneOf: [{ type: 'number' }, { type: 'integer' }] }, 3)).toEqual([]);
});

test('[CAP-10] a schema that is broken, hostile or only informative refuses nothing', () => {
  const bomb: Record<string, unknown> = { d0: { type: 'string' } };
  for (let level = 1; level < 40; level++) {
    const ref = { $ref: `#/$defs/d${level - 1}` };
    bomb[`d${level}`] = { anyOf: [ref, ref] };
  }
  const lenient: readonly [schema: unknown, args: unknown][] = [
    [undefined, { a: 1 }],
    [null, 1],
    ['object', {}],
    [[], {}],
    [{ type: 'object', required: 'path' }, {}],
    [{ properties: [] }, { a: 1 }],
    [{ properties: { a: { $ref: '#/nowhere' } } }, { a: 1 }],
    [{ properties: { a: { $ref: 'https://example.org/schema' } } }, { a: 1 }],
    [{ $ref: '#' }, {}],
    [{ properties: { a: { type: 'string', pattern: '([' } } }, { a: 'x' }],
    [{ properties: { a: { type: 'string', pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(50)}b` }],
    [{ patternProperties: { '^x': {} }, additionalProperties: false }, { x: 1 }],
    [{ properties: { a: { format: 'email' } } }, { a: 'nobody' }],
    [{ $defs: bomb, $ref: '#/$defs/d39' }, 5],
  ];
  for (const [schema, args] of lenient) expect(checkArguments(schema, args)).toEqual([]);
  const circle: Record<string, unknown> = {};
  circle.me = circle;
  expect(checkArguments(SCHEMA, circle)).toEqual([]);
});

test('[CAP-10] no schema and no value make the check throw', () => {
  const keyword = fc.constantFrom(
    'type',
    'properties',
    'items',
    'anyOf',
    '$ref',
    'required',
    'enum',
    'not',
    '$defs',
    'minimum',
  );
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.oneof(
        fc.constantFrom('string', 'object', '#', '#/$defs/type', ''),
        fc.boolean(),
        fc.integer(),
        fc.constant(null),
      ),
      fc.dictionary(keyword, tie('schema')),
      fc.array(tie('schema'), { maxLength: 3 }),
    ),
  }));
  fc.assert(
    fc.property(schema, fc.jsonValue(), (one, value) => {
      for (const problem of checkArguments(one, value)) expect(problem).toMatch(/\S/);
    }),
    { seed: proofSeed(), numRuns: proofRuns(5000) },
  );
});

test('[CAP-11] defaults fill in missing values, and only optional ones', () => {
  const schema = {
    properties: { a: { default: 1 }, b: { default: 2 }, c: {}, d: { default: null } },
    required: ['b'],
  };
  expect(applyDefaults(schema, { x: 9, a: undefined })).toEqual({ a: 1, d: null, x: 9 });
  expect(applyDefaults(schema, { a: 0, d: false })).toEqual({ a: 0, d: false });
  expect(applyDefaults(schema, 'text')).toBe('text');
  expect(applyDefaults(null, { a: 1 })).toEqual({ a: 1 });
  const given = {};
  applyDefaults(schema, given);
  expect(given).toEqual({});
});
