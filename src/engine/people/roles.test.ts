import { expect, test } from 'vitest';
import { toolId } from '../../core/vocabulary/ids.ts';
import { FULL_SCOPE, type KeyScope } from '../../core/vocabulary/principal.ts';
import { hidesTools, limitsOf, loopsOf, mayReach, mayUseTool, narrowed } from './roles.ts';

const only = (allow: readonly string[], deny: readonly string[] = []): KeyScope => ({
  ...FULL_SCOPE,
  tools: { allow, deny },
});
const servers = (allow: readonly string[], deny: readonly string[] = []): KeyScope => ({
  ...FULL_SCOPE,
  servers: { allow, deny },
});
const read = toolId('disk', 'read');

test('[SCOPE-2] a tool needs one glob that allows it and none that denies it; denial applies to every spelling', () => {
  expect(mayUseTool(undefined, read)).toBe(true);
  expect(mayUseTool(only(['disk:*']), read)).toBe(true);
  expect(mayUseTool(only(['disk:*'], ['*:read']), read)).toBe(false);
  expect(mayUseTool(only(['DISK:*']), read)).toBe(false);
  expect(mayUseTool(only(['*'], ['DISK:R*']), read)).toBe(false);
  expect(mayUseTool(only([]), read)).toBe(false);
  expect(mayUseTool(servers(['mail']), read)).toBe(false);
  expect(mayUseTool({ ...only(['disk:*']), servers: { allow: ['*'], deny: ['disk'] } }, read)).toBe(false);
  // A name that continues another is another.
  expect(mayUseTool(servers(['disk']), toolId('disk2', 'read'))).toBe(false);
  expect(mayUseTool(only(['disk:read']), toolId('disk', 'read_all'))).toBe(false);
});

test('[SCOPE-3] a server is reachable if one of its tools may be used', () => {
  expect(mayReach({ scope: only(['disk:read']) }, 'disk')).toBe(true);
  expect(mayReach({ scope: only(['disk:read']) }, 'mail')).toBe(false);
  expect(mayReach({ scope: only(['*:read']) }, 'mail')).toBe(true);
  expect(mayReach({ scope: only(['d*']) }, 'disk')).toBe(true);
  expect(mayReach({ scope: only(['*'], ['mail:*']) }, 'mail')).toBe(false);
  expect(mayReach({ scope: only(['*'], ['mail:send']) }, 'mail')).toBe(true);
  expect(mayReach({ scope: servers(['disk']) }, 'mail')).toBe(false);
  expect(mayReach({ scope: only([]) }, 'disk')).toBe(false);
});

test('[SCOPE-7] a narrowed scope must satisfy both scopes', () => {
  const limit = { unit: 'calls', per: 'hour', most: 5 } as const;
  const both = narrowed({ ...only(['disk:*']), limits: [limit], loops: 3 }, only(['*:read', 'mail:*']))!;
  expect(mayUseTool(both, read)).toBe(true);
  expect(mayUseTool(both, toolId('mail', 'send'))).toBe(false);
  expect(mayUseTool(both, toolId('disk', 'write'))).toBe(false);
  expect(mayReach({ scope: both }, 'mail')).toBe(false);
  expect([limitsOf(both), loopsOf(both)]).toEqual([[limit], 3]);
  expect(narrowed(undefined, both)).toBe(both);
  expect(hidesTools(narrowed(FULL_SCOPE, FULL_SCOPE))).toBe(false);
  expect(hidesTools(narrowed(both, FULL_SCOPE))).toBe(true);
});
