import { expect, test } from 'vitest';
import type { Key } from '../../../shared/api-types.ts';
import { inWords, schemaFor, scopeOf } from './scope-fields.ts';

const ALL = { allow: ['*'], deny: [] };
const FULL: NonNullable<Key['scope']> = { tools: ALL, servers: ALL, limits: [], loops: null, lane: null };

/** What the form sends when nobody touches it. */
function untouched(scope: Key['scope']): object {
  const { properties } = schemaFor(scope) as { properties: Record<string, { default?: unknown }> };
  const given = Object.entries(properties).filter(([, field]) => field.default !== undefined);
  return Object.fromEntries(given.map(([name, field]) => [name, field.default]));
}

test('[DASH-93] a scope that is saved unchanged stays the same', () => {
  const scopes: NonNullable<Key['scope']>[] = [
    { ...FULL, tools: { allow: ['github:get_*', 'x:y'], deny: ['*:delete_*'] }, loops: 8 },
    { ...FULL, servers: { allow: ['git*'], deny: ['prod'] }, lane: 'native' },
    { ...FULL, limits: [{ unit: 'calls', per: 'hour', most: 200 }] },
    { ...FULL, limits: [{ unit: 'seconds', per: 'day', most: 0.5 }], loops: 3 },
    { ...FULL, tools: { allow: [], deny: [] } },
    { ...FULL, servers: { allow: [], deny: ['*'] } },
  ];
  for (const scope of scopes) expect(scopeOf(scope, untouched(scope))).toEqual(scope);
  expect(scopeOf(null, untouched(null))).toBeNull();
});

test('[DASH-93] a scope is described in words', () => {
  expect(inWords(null)).toEqual(['Everything that its role allows']);
  const tools = { allow: ['github:get_*'], deny: ['github:get_secret'] };
  expect(
    inWords({ ...FULL, tools, servers: { allow: ['*'], deny: ['prod'] }, loops: 8, lane: 'both' }),
  ).toEqual([
    'Only tools github:get_*, but not github:get_secret',
    'All servers, but not prod',
    'MCP clients see the tools of PML and of the servers',
    'Loops end after 8 rounds',
  ]);
  expect(inWords({ ...FULL, tools: { allow: [], deny: [] } })).toEqual(['No tools']);
  expect(inWords({ ...FULL, tools: { allow: [...'abcdefgh'], deny: [] } })).toEqual([
    'Only tools a, b, c, d, e, f and 2 more',
  ]);
});
