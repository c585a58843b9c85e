import { holds } from '../../core/planning/plan/conditions.ts';
import { resolveReferences } from '../../core/planning/plan/references.ts';
import { usedTasks } from '../../core/planning/plan/validate-plan.ts';
import type { Plan, Task } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { JsonObject } from '../ports.ts';
import type { RunDriver } from './run-driver.ts';
import { runStep } from './run-step.ts';
import type { Target } from './targets.ts';
import { hasFailed, isOpen, itemKey, PENDING, type TaskState } from './task-state.ts';

const DEFAULTS = {
  /** Items of one `for_each`. */
  maxItems: 1_000,
};

/** What a task is made of once it can begin. */
interface ReadyTask {
  readonly task: Task;
  readonly target: Target;
  readonly values: Readonly<Record<string, unknown>>;
  readonly deps: JsonObject;
}

/** Runs one task once all tasks it depends on have ended; returns its own final state. */
export async function runTask(
  driver: RunDriver,
  plan: Plan,
  task: Task,
  target: Target,
  before: ReadonlyMap<string, TaskState>,
): Promise<TaskState> {
  const known = driver.states.get(task.id) ?? PENDING;
  if (!isOpen(known)) return known;
  if ([...before.values()].some(isOpen)) return known;
  try {
    const skip = reasonToSkip(plan, task, before);
    if (skip) return settle(driver, task, skip);
    if (plan.notKept?.includes(task.id)) throw notKept(task);
    const ready = { task, target, ...valuesFor(driver, plan, task) };
    if (task.when !== undefined && !holds(task.when, ready.values)) {
      return settle(driver, task, skipped('its condition does not hold', 'condition'));
    }
    if (task.forEach !== undefined) return await runEach(driver, ready);
    return await runStep(driver, { key: task.id, ...ready });
  } catch (error) {
    if (driver.stopped.aborted) return known;
    const { message, ...rest } = PmlError.from(error).toShape();
    const told = { ...rest, message: String(driver.scope.ports.redact(message)) };
    return settle(driver, task, {
      status: 'error',
      error: told,
      at: driver.scope.ports.clock.now().getTime(),
    });
  }
}

/** A failure blocks all that comes after it; a task that was skipped by its condition only those that use it. */
function reasonToSkip({ tasks }: Plan, task: Task, before: ReadonlyMap<string, TaskState>): TaskState | null {
  const failed = task.dependsOn.find((id) => hasFailed(before.get(id)!));
  if (failed !== undefined) return skipped(`${failed} gave no result`, 'failure');
  const used = usedTasks(task, new Set(tasks.map(({ id }) => id)));
  const missing = used.find((id) => before.get(id)?.status === 'skipped');
  return missing === undefined ? null : skipped(`${missing} was skipped`, 'condition');
}

function valuesFor(driver: RunDriver, plan: Plan, task: Task): Pick<ReadyTask, 'values' | 'deps'> {
  const used = usedTasks(task, new Set(plan.tasks.map(({ id }) => id)));
  const lost = used.find((id) => !driver.values.has(id));
  if (lost !== undefined) {
    throw new PmlError('not_available', `The result of ${lost} was too large or too sensitive to store`, {
      hint: 'Another process resumed the run. Run the workflow again.',
    });
  }
  const valuesOf = (ids: readonly string[]) => ids.map((id) => [id, driver.values.get(id)]);
  const given = task.dependsOn.filter((id) => driver.values.has(id));
  return {
    values: { ...plan.arguments, ...Object.fromEntries(valuesOf(used)) },
    deps: Object.fromEntries(valuesOf(given)),
  };
}

/** Once for each item; what they give stands in their order. */
async function runEach(driver: RunDriver, { task, target, values, deps }: ReadyTask): Promise<TaskState> {
  const { clock } = driver.scope.ports;
  const items = resolveReferences(task.forEach, values);
  if (!Array.isArray(items)) throw new PmlError('invalid_argument', `for_each of ${task.id} is not a list`);
  if (items.length > DEFAULTS.maxItems) {
    throw new PmlError(
      'too_large',
      `${task.id} has ${items.length} items; at most ${DEFAULTS.maxItems} are allowed`,
    );
  }
  const startedAt = clock.monotonic();
  const keys = items.map((_, index) => itemKey(task.id, index));
  const states = await Promise.all(
    items.map((item: unknown, index) =>
      runStep(driver, { key: keys[index]!, task, target, values: { ...values, item, index }, deps }),
    ),
  );
  if (states.some(isOpen)) return PENDING;
  const at = clock.now().getTime();
  const failed = states.flatMap((state, index) =>
    state.status === 'error' ? [`${keys[index]}: ${state.error.message}`] : [],
  );
  if (failed.length > 0) {
    const message = `${failed.length} of ${items.length} items failed; ${failed[0]}`;
    return settle(driver, task, { status: 'error', error: { code: 'tool_failed', message }, at });
  }
  if (keys.every((key) => driver.values.has(key)))
    driver.values.set(
      task.id,
      keys.map((key) => driver.values.get(key)),
    );
  const took = clock.monotonic() - startedAt;
  return settle(driver, task, {
    status: 'success',
    is_whole: true,
    items: items.length,
    duration_ms: took,
    at,
  });
}

function notKept({ id }: Task): PmlError {
  return new PmlError(
    'not_available',
    `Task ${id} cannot continue: it contained secrets, which are not stored`,
    {
      hint: 'Run the workflow again: approvals that were given still hold.',
    },
  );
}

function skipped(because: string, by: 'condition' | 'failure'): TaskState {
  return { status: 'skipped', because, by };
}

function settle(driver: RunDriver, task: Task, state: TaskState): TaskState {
  driver.note(task.id, state);
  return state;
}
