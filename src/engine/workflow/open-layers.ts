import type { Plan } from '../../core/vocabulary/plan.ts';
import { isOpen, PENDING, type TaskState } from './task-state.ts';

type Layers = readonly (readonly string[])[];

/**
 * The tasks that may run now. Where the agent decides between layers, only those up to the layer the run
 * has reached, and one more when the agent said to go on and that layer is done.
 */
export function openLayers(
  plan: Plan,
  layers: Layers,
  states: ReadonlyMap<string, TaskState>,
  goesOn: boolean,
): ReadonlySet<string> {
  if (plan.decide !== 'layers') return new Set(layers.flat());
  const reached = reachedLayer(layers, states);
  const isDone = layers[reached]?.every((id) => !isOpen(states.get(id) ?? PENDING));
  return new Set(layers.slice(0, reached + (goesOn && isDone ? 2 : 1)).flat());
}

/** The last layer of which something has begun; the first when nothing has. */
function reachedLayer(layers: Layers, states: ReadonlyMap<string, TaskState>): number {
  const begun = new Set(
    states
      .entries()
      .filter(([, { status }]) => status !== 'pending')
      // An item of a list stands for its task.
      .map(([key]) => key.replace(/\[\d+\]$/, '')),
  );
  return Math.max(
    0,
    layers.findLastIndex((layer) => layer.some((id) => begun.has(id))),
  );
}

/** The tasks of the first layer that is not done; empty when all are. */
export function nextLayer(layers: Layers, states: ReadonlyMap<string, TaskState>): readonly string[] {
  return layers.find((layer) => layer.some((id) => isOpen(states.get(id) ?? PENDING))) ?? [];
}
