import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proofSeed } from '../../../../test/proof-count.ts';
import { withAllGiven, withGiven } from '../suggest/suggest-plan.ts';
import { referencedTasks, resolveReferences } from './references.ts';
import { layersOf } from './validate-plan.ts';

test('[PLAN-1] a task is in the first layer after everything it depends on', () => {
  const task = (id: string, ...dependsOn: string[]) => ({ id, dependsOn });
  expect(layersOf([task('c', 'a', 'b'), task('a'), task('b', 'a'), task('d', 'a')])).toEqual([
    ['a'],
    ['b', 'd'],
    ['c'],
  ]);
  expect(layersOf([])).toEqual([]);
});

test('[PLAN-1] layers of random acyclic plans respect every dependency', () => {
  const plan = fc
    .nat(12)
    .chain((n) =>
      fc
        .array(fc.array(fc.nat(12)), { minLength: n, maxLength: n })
        .map((rows) =>
          rows.map((row, i) => ({ id: `t${i}`, dependsOn: row.filter((j) => j < i).map((j) => `t${j}`) })),
        ),
    );
  fc.assert(
    fc.property(plan, (tasks) => {
      const layer = new Map(layersOf(tasks).flatMap((ids, i) => ids.map((id) => [id, i] as const)));
      for (const { id, dependsOn } of tasks) {
        for (const before of dependsOn) expect(layer.get(before)).toBeLessThan(layer.get(id) ?? -1);
      }
    }),
    { seed: proofSeed() },
  );
});

test('[PLAN-2] a cycle is refused with its path', () => {
  const tasks = [
    { id: 'a', dependsOn: ['c'] },
    { id: 'b', dependsOn: ['a'] },
    { id: 'c', dependsOn: ['b'] },
  ];
  expect(() => layersOf(tasks)).toThrow(/a -> b -> c -> a/);
  expect(() => layersOf([{ id: 'x', dependsOn: ['x'] }])).toThrow(/x -> x/);
});

test('[PLAN-3] a reference that is the whole string keeps its type, inside text it is interpolated', () => {
  const results = { t1: { items: [{ id: 7, 'odd name': 'x' }] }, t2: 'plain' };
  const filled = resolveReferences(
    {
      whole: '${t1.items[0].id}',
      text: 'id ${t1.items[0].id} of ${t2}',
      odd: '${t1.items[0]["odd name"]}',
      n: 1,
    },
    results,
  );
  expect(filled).toEqual({ whole: 7, text: 'id 7 of plain', odd: 'x', n: 1 });
  expect(resolveReferences('${t1.items}', results)).toEqual(results.t1.items);
  expect(referencedTasks({ a: ['${t1.x}', 'see ${t2}'] })).toEqual(['t1', 't2']);
});

test('[PLAN-4] a reference that leads nowhere is refused with its missing part', () => {
  expect(() => resolveReferences('${t1.items.name}', { t1: { items: {} } })).toThrow(/"name" not found/);
  expect(() => resolveReferences('${t9}', {})).toThrow(/"t9" not found/);
  expect(() => resolveReferences('${t1.constructor}', { t1: {} })).toThrow(/"constructor" not found/);
});

test('[PLAN-20] values of the caller win, by name, over inputs and filled arguments', () => {
  const task = (id: string, tool: string, args: object) => ({
    id,
    tool,
    arguments: { ...args },
    dependsOn: [],
  });
  const plan = {
    tasks: [
      task('t1', 'fs:read', { path: 'a.md', head: 3 }),
      task('t2', 'fs:write', { path: 'b.md', content: '${t1.text}', mode: '${mode}' }),
    ],
    inputs: [{ name: 'mode', schema: {} }],
  };
  const { plan: given, unplaced } = withGiven(plan, {
    mode: 'w',
    head: 5,
    path: 'c.md',
    write_path: 'd.md',
    content: 'x',
    other: 1,
  });
  expect(given.arguments).toEqual({ mode: 'w' });
  expect(given.tasks.map(({ arguments: args }) => args)).toEqual([
    // Both tasks have a path: which is meant is not said.
    { path: 'a.md', head: 5 },
    { path: 'd.md', content: '${t1.text}', mode: '${mode}' },
  ]);
  expect(unplaced).toEqual(['path', 'content', 'other']);
  expect(() => withAllGiven(plan, { other: 1 })).toThrow(
    expect.objectContaining({
      code: 'invalid_argument',
      message: 'The suggestion has no argument "other", or more than one',
      hint: 'It takes "mode", "read_path", "read_head", "write_path".',
    }),
  );
});
