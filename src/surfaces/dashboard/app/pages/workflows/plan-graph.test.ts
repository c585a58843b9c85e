import { expect, test } from 'vitest';
import { layersOf, layoutPlan, pathOf } from './plan-graph.tsx';

const task = (id: string, ...depends_on: string[]) => ({ id, tool: 's:t', arguments: {}, depends_on });
const PLAN = { tasks: [task('d', 'b', 'c', 'a'), task('b', 'a'), task('c', 'a'), task('a')] };

test('[DASH-51] a plan is drawn in layers: a task comes after those it waits for, independent tasks are side by side', () => {
  const { tasks, edges, width } = layoutPlan(PLAN);
  const at = Object.fromEntries(tasks.map((placed) => [placed.id, placed]));
  expect(tasks.map(({ id }) => id)[0]).toBe('a');
  expect(tasks.at(-1)?.id).toBe('d');
  expect(at.b!.left).toBe(at.c!.left);
  expect(at.a!.left + at.a!.width).toBeLessThan(at.b!.left);
  expect(at.b!.left + at.b!.width).toBeLessThan(at.d!.left);
  expect(Math.abs(at.b!.top - at.c!.top)).toBeGreaterThanOrEqual(at.b!.height);
  expect(width).toBeGreaterThan(3 * at.a!.width);
  expect(edges).toHaveLength(5);
  for (const { from, to, points } of edges) {
    expect(points[0]?.x).toBe(at[from]!.left + at[from]!.width);
    expect(points.at(-1)?.x).toBe(at[to]!.left);
  }
  expect(layersOf(PLAN)).toEqual([['a'], ['b', 'c'], ['d']]);
});

test('[DASH-51] a line passes through its points', () => {
  expect(pathOf([])).toBe('');
  expect(
    pathOf([
      { x: 0, y: 0 },
      { x: 2, y: 4 },
    ]),
  ).toBe('M0 0C1 0 1 4 2 4');
});
