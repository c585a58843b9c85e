import { expect, test } from 'vitest';
import { toolId } from '../vocabulary/ids.ts';
import { definitionDrift } from './definition-drift.ts';

const tool = (properties: object, required: readonly string[] = [], outputSchema?: object) => ({
  id: toolId('shop', 'find'),
  server: 'shop',
  name: 'find',
  description: 'finds',
  inputSchema: { type: 'object', properties, required },
  ...(outputSchema && { outputSchema }),
  definitionHash: '',
});
const name = { name: { type: 'string' } };

test.each([
  [
    'a new required argument',
    tool({ ...name, unit: { type: 'string' } }, ['unit']),
    ['there is a new required argument "unit"'],
  ],
  ['one that is required now', tool(name, ['name']), ['"name" is required now']],
  ['one with another name', tool({ title: { type: 'string' } }), ['argument "name" is gone; "title" is new']],
  ['one that is gone', tool({ count: { type: 'integer' } }), ['argument "name" is gone']],
  ['another type', tool({ name: { type: 'integer' } }), ['argument "name" was string and is integer now']],
])('[DRIFT-4] %s breaks calls', (_, after, words) => {
  expect(definitionDrift(tool(name), after).map((change) => change.words)).toEqual(words);
});

test('[DRIFT-4] fewer choices and missing result fields break something', () => {
  const unit = (...choices: string[]) => tool({ unit: { type: 'string', enum: choices } });
  expect(definitionDrift(unit('m', 'ft'), unit('m')).map(({ words }) => words)).toEqual([
    'argument "unit" no longer takes "ft"',
  ]);
  const gives = (properties: object) => tool(name, [], { type: 'object', properties });
  const before = gives({ price: { type: 'number' }, note: { type: 'string' } });
  expect(definitionDrift(before, gives({ price: { type: 'string' } })).map(({ kind }) => kind)).toEqual([
    'type',
    'removed',
  ]);
});

test.each([
  ['other words', { ...tool(name), description: 'finds things' }],
  ['a new optional argument', tool({ ...name, limit: { type: 'integer' } })],
  ['a wider type', tool({ name: { type: ['string', 'null'] } })],
  ['a schema that is not one', { ...tool(name), inputSchema: 'hostile' }],
])('[DRIFT-6] %s breaks nothing', (_, after) => {
  expect(definitionDrift(tool(name), after)).toEqual([]);
});
