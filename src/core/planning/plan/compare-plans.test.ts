import { expect, test } from 'vitest';
import type { Plan, Task } from '../../vocabulary/plan.ts';
import { comparePlans } from './compare-plans.ts';

const plan = (
  ...tasks: readonly [id: string, runs: string, after?: readonly string[], args?: object][]
): Plan => ({
  inputs: [],
  tasks: tasks.map(([id, runs, dependsOn = [], args = {}]) => ({
    id,
    ...(runs.includes(':') ? { tool: runs } : { capability: runs }),
    arguments: args,
    dependsOn,
  })) as Task[],
});
const SUGGESTED = plan(['t1', 'disk:list'], ['t2', 'disk:read', ['t1']], ['t3', 'mail:send', ['t2']]);

test('[SUGG-5] different names and arguments do not count', () => {
  const same = plan(
    ['a', 'disk:list', [], { path: '.' }],
    ['c', 'mail:send', ['b']],
    ['b', 'disk:read', ['a']],
  );
  expect(comparePlans(SUGGESTED, same)).toEqual({ left: [], came: [], moved: [] });
});

test('[SUGG-5] removed, added and moved tasks are listed by what they run', () => {
  const changed = plan(['t1', 'disk:list'], ['t2', 'disk:read'], ['x', 'tidy', ['t2']]);
  expect(comparePlans(SUGGESTED, changed)).toEqual({
    left: ['mail:send'],
    came: ['capabilities.tidy'],
    moved: ['disk:read'],
  });
});

test('[SUGG-5] a tool that is used twice counts twice', () => {
  const twice = plan(['t1', 'disk:list'], ['t2', 'disk:read', ['t1']], ['t3', 'disk:read', ['t1']]);
  const once = plan(['t1', 'disk:list'], ['t2', 'disk:read', ['t1']]);
  expect(comparePlans(twice, once)).toEqual({ left: ['disk:read'], came: [], moved: [] });
});
