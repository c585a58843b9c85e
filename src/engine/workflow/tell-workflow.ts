import { layersOf } from '../../core/planning/plan/validate-plan.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import type { Approval, WorkflowRun } from '../ports.ts';
import type { RunResult } from '../runs/run.ts';
import { hasFailed, isOpen, PENDING, shownState, storedStates, type TaskState } from './task-state.ts';

/** A stored run as callers see it. */
export function tellStored(run: WorkflowRun, approvals: readonly Approval[]): RunResult {
  const states = storedStates(run.tasks);
  const layers = run.plan ? layersOf(run.plan.tasks) : [];
  const status = run.status === 'paused' ? pausedStatus(states) : run.status;
  const results = tellStates(layers, states, () => undefined);
  return {
    status,
    runId: run.id,
    traceId: null,
    console: [],
    toolsUsed: [],
    results,
    layers,
    approvals,
    ...(status === 'decision_required' && { next: nextLayer(layers, states) }),
  };
}

/** What a paused run waits for. */
function pausedStatus(states: ReadonlyMap<string, TaskState>) {
  const waits = states.values().some(({ status }) => status === 'waiting' || status === 'unknown');
  return waits ? 'approval_required' : 'decision_required';
}

/** Every task in the order of the layers; items of a list where the list has no result. */
export function tellStates(
  layers: readonly (readonly string[])[],
  states: ReadonlyMap<string, TaskState>,
  /** Its whole result, where that is known. */
  wholeOf: (key: string) => { readonly value: unknown } | undefined,
): Record<string, unknown> {
  const told = (key: string, state: TaskState) => {
    const whole = state.status === 'success' ? wholeOf(key) : undefined;
    return [key, { ...(shownState(state) as object), ...(whole && { result: whole.value }) }];
  };
  const entries = layers.flat().flatMap((id) => {
    const state = states.get(id) ?? PENDING;
    const items = [...states].filter(([key]) => key.startsWith(`${id}[`));
    if (state.status === 'success' && state.items !== undefined && !wholeOf(id)) {
      const result = items.map(([, item]) => (item.status === 'success' ? item.result : null));
      return [[id, { ...(shownState(state) as object), result }]];
    }
    const isTold = state.status !== 'success' ? items.map(([key, item]) => told(key, item)) : [];
    return [told(id, state), ...isTold];
  });
  return Object.fromEntries(entries);
}

/** How a run stands when nothing of it can go on. */
export function overallStatus(
  states: ReadonlyMap<string, TaskState>,
  tasks: readonly string[],
): 'success' | 'error' | 'approval_required' | 'decision_required' {
  const all = tasks.map((id) => states.get(id) ?? PENDING);
  const isWaiting = states.values().some(({ status }) => status === 'waiting' || status === 'unknown');
  if (isWaiting) return 'approval_required';
  if (all.some(({ status }) => status === 'pending' || status === 'running')) return 'decision_required';
  return all.some(hasFailed) ? 'error' : 'success';
}

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
