import { expect, test } from 'vitest';
import { layoutPlan, pathOf } from './layout-plan.ts';

const task = (id: string, ...depends_on: string[]) => ({ id, tool: 's:t', arguments: {}, depends_on });
const PLAN = { tasks: [task('d', 'b', 'c'), task('b', 'a'), task('c', 'a'), task('a')], inputs: [] };

test('[DASH-51] a plan lies in layers: what waits stands behind what it waits for, what need not stands beside', () => {
  const { tasks, edges, width } = layoutPlan(PLAN, 'LR');
  const at = Object.fromEntries(tasks.map((placed) => [placed.id, placed]));
  expect(tasks.map(({ id }) => id)[0]).toBe('a');
  expect(tasks.at(-1)?.id).toBe('d');
  expect(at.b!.left).toBe(at.c!.left);
  expect(at.a!.left + at.a!.width).toBeLessThan(at.b!.left);
  expect(at.b!.left + at.b!.width).toBeLessThan(at.d!.left);
  expect(Math.abs(at.b!.top - at.c!.top)).toBeGreaterThanOrEqual(at.b!.height);
  expect(edges).toHaveLength(4);
  expect(width).toBeGreaterThan(3 * at.a!.width);
  const down = layoutPlan(PLAN, 'TB');
  expect(down.height).toBeGreaterThan(down.tasks[0]!.height * 3);
});

test('[DASH-51] a line begins and ends at its points', () => {
  expect(pathOf([])).toBe('');
  expect(
    pathOf([
      { x: 0, y: 0 },
      { x: 2, y: 0 },
    ]),
  ).toBe('M0 0L2 0');
  expect(
    pathOf([
      { x: 0, y: 0 },
      { x: 1, y: 1 },
      { x: 2, y: 0 },
    ]),
  ).toBe('M0 0Q1 1 2 0');
});
