import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import type { Target } from './targets.ts';
import { isOpen, itemKey, PENDING, type TaskState } from './task-state.ts';

/**
 * What finished tasks gave, by what was kept of it. What was not kept whole is asked for again where
 * that does no harm and something still needs it; else it is lost.
 */
export function storedValues(
  plan: Plan,
  targets: readonly Target[],
  stored: ReadonlyMap<string, TaskState>,
): { readonly states: ReadonlyMap<string, TaskState>; readonly values: Map<string, unknown> } {
  const states = new Map(stored);
  const values = new Map<string, unknown>();
  for (const [key, state] of stored) {
    if (state.status === 'success' && state.is_whole && state.items === undefined)
      values.set(key, state.result);
  }
  const needed = new Set(
    plan.tasks.filter(({ id }) => isOpen(stored.get(id) ?? PENDING)).flatMap(({ dependsOn }) => dependsOn),
  );
  for (const [i, task] of plan.tasks.entries()) {
    const state = stored.get(task.id);
    if (state?.status !== 'success') continue;
    const keys = Array.from({ length: state.items ?? 0 }, (_, index) => itemKey(task.id, index));
    const parts = state.items === undefined ? [task.id] : keys;
    const lost = parts.filter((key) => !values.has(key));
    if (lost.length === 0) {
      if (state.items !== undefined)
        values.set(
          task.id,
          keys.map((key) => values.get(key)),
        );
    } else if (needed.has(task.id) && isRepeatable(plan, task, targets[i]!)) {
      for (const key of [task.id, ...lost]) states.delete(key);
    }
  }
  return { states, values };
}

function isRepeatable({ notKept }: Plan, { id, idempotent }: Task, target: Target): boolean {
  return !notKept?.includes(id) && (idempotent ?? target.isRepeatable);
}
