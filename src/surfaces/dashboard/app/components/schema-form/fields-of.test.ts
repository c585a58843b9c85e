import { expect, test } from 'vitest';
import { fieldsOf } from './fields-of.ts';
import { firstDrafts, readForm, readJson } from './schema-form.tsx';

const SCHEMA = {
  type: 'object',
  required: ['path', 'times'],
  $defs: { mode: { enum: ['fast', 'slow'] } },
  properties: {
    tags: { type: 'array', items: { type: 'string' } },
    path: { type: 'string', minLength: 2, description: 'Which file' },
    times: { type: 'integer', minimum: 1, maximum: 10 },
    mode: { $ref: '#/$defs/mode' },
    head: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    dry: { type: 'boolean', default: true },
    where: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const fields = fieldsOf(SCHEMA)!;

test('[DASH-62] a schema becomes fields, required ones first; anything without a field type is JSON', () => {
  expect(fields.map(({ name, kind, isRequired, type }) => [name, kind, isRequired, type])).toEqual([
    ['path', 'text', true, 'text'],
    ['times', 'integer', true, 'whole number, 1 to 10'],
    ['tags', 'list', false, 'list of texts'],
    ['mode', 'choice', false, 'choice'],
    ['head', 'number', false, 'number'],
    ['dry', 'boolean', false, 'yes or no'],
    ['where', 'json', false, 'JSON'],
  ]);
  expect(fields.find(({ name }) => name === 'mode')?.choices).toEqual(['fast', 'slow']);
  expect(fieldsOf({ type: 'object' })).toBeNull();
  expect(fieldsOf({ type: 'object', properties: {}, additionalProperties: false })).toEqual([]);
});

test('[DASH-62] a nonsensical schema breaks nothing', () => {
  for (const odd of [null, 7, 'x', [], { properties: 3 }, { properties: { a: null, b: 'x' }, required: 'a' }])
    expect(() => fieldsOf(odd)).not.toThrow();
  const circular = { properties: { a: { $ref: '#/properties/a' } } };
  expect(fieldsOf(circular)).toMatchObject([{ name: 'a', kind: 'json' }]);
});

test('[DASH-62] filled fields become arguments of the right types, and empty fields are left out', () => {
  const drafts = {
    ...firstDrafts(fields),
    path: '/a',
    times: '3',
    tags: ['x', '', 'y'],
    mode: '"slow"',
    where: '{"city": "Bern"}',
  };
  expect(readForm(SCHEMA, fields, drafts)).toEqual({
    values: { path: '/a', times: 3, tags: ['x', 'y'], mode: 'slow', dry: true, where: { city: 'Bern' } },
    problems: {},
  });
});

test('[DASH-85] missing and invalid values are reported by field', () => {
  expect(readForm(SCHEMA, fields, { times: 'many', where: '{' }).problems).toEqual({
    path: 'This is required.',
    times: 'This is not a number.',
    where: expect.stringContaining('not valid JSON'),
  });
  const { problems } = readForm(SCHEMA, fields, { path: '/', times: '11', where: '{}' });
  expect(Object.keys(problems).toSorted()).toEqual(['path', 'times', 'where']);
  expect(readJson(SCHEMA, '[]').problems).toEqual({ '': expect.stringContaining('object') });
  expect(readJson(SCHEMA, '{"path": "/ab", "times": 1}')).toEqual({
    values: { path: '/ab', times: 1 },
    problems: {},
  });
});
