import type { Plan, Task } from '../../src/core/vocabulary/plan.ts';

type Body = 'tool' | 'capability' | 'code';
export type LooseTask = { readonly id: string } & Partial<Record<Body, string> & Omit<Task, Body | 'id'>>;

/** A plan of tasks; fields that are not given get defaults. */
export function planOf(tasks: readonly LooseTask[], over: Partial<Plan> = {}): Plan {
  const whole = tasks.map((task) => ({ arguments: {}, dependsOn: [], ...task })) as Task[];
  return { tasks: whole, inputs: [], ...over };
}
