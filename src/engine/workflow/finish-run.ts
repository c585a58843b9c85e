import { canonicalJson } from '../../core/policy/call-hash.ts';
import { guestToWire } from '../../core/vocabulary/execution-trace.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../caller.ts';
import type { WorkflowRun } from '../ports.ts';
import type { RunEnd, RunResult } from '../runs/run.ts';
import { endOf, resultOf } from '../runs/single-run.ts';
import type { StopReason } from './active-runs.ts';
import { keptPlan, ONLY_TASK } from './open-run.ts';
import type { DriveRequest, RunDriver } from './run-driver.ts';
import { itemKey, PENDING, shownState, type TaskResult, type TaskState } from './task-state.ts';
import { nextLayer, overallStatus, tellStates, tellStored } from './tell-workflow.ts';

interface Ended extends DriveRequest {
  readonly layers: readonly (readonly string[])[];
  readonly why: StopReason | null;
  /** Noted and not in the store yet. */
  readonly rest: WorkflowRun['tasks'];
  readonly mayHaveAsked: boolean;
  /** How many secrets were known when the run began. */
  readonly knownAtStart: number;
}

/** Writes down where the run came to rest, and answers it. */
export async function finishRun(driver: RunDriver, ended: Ended, caller: Caller): Promise<RunResult> {
  const { ports } = driver.scope;
  const { run, plan, layers, lease, why, rest } = ended;
  const ids = plan.tasks.map(({ id }) => id);
  const rested = overallStatus(driver.states, ids);
  // Clients give up waiting before people answer: what only waits for them can still be taken up.
  const isCancelled = caller.signal?.aborted === true && why === null && rested !== 'approval_required';
  const status = isCancelled ? 'aborted' : why === null ? rested : 'running';
  const isSealed = (ports.found?.size ?? 0) === ended.knownAtStart;
  // The trace is made while the store writes.
  const released = isSealed
    ? ports.store.runs.release(run.id, lease.owner, storedStatus(status), rest)
    : why === 'lost'
      ? Promise.resolve(false)
      : releaseSealed(driver, run.id, storedStatus(status), rest);
  const only = driver.isSingle ? driver.attempts.get(ONLY_TASK) : undefined;
  const finishing = driver.run.finish(only ? endOf(only) : endOfPlan(driver, ended, status));
  const [isHeld, finished] = await Promise.all([released, finishing]);
  const approvals = isHeld && !ended.mayHaveAsked ? [] : await ports.store.approvals.list({ runId: run.id });
  if (!isHeld) return tellStored((await ports.store.runs.get(run.id)) ?? run, approvals);
  const wholeOf = (key: string) => (driver.values.has(key) ? { value: driver.values.get(key) } : undefined);
  return {
    console: [],
    ...finished,
    ...(only && resultOf(run.id, only, finished)),
    status,
    runId: run.id,
    results: tellStates(layers, driver.states, wholeOf),
    layers,
    approvals,
    ...(status === 'decision_required' && { next: nextLayer(layers, driver.states) }),
    ...(isCancelled && { error: { code: 'cancelled' as const, message: 'The run was cancelled' } }),
  };
}

/** What was written before something in it was known to be secret is written again; false when it is not ours. */
async function releaseSealed(
  { scope: { ports } }: RunDriver,
  runId: string,
  status: WorkflowRun['status'],
  rest: WorkflowRun['tasks'],
): Promise<boolean> {
  const { store, clock, redact } = ports;
  const stored = await store.runs.get(runId);
  if (!stored) return false;
  const whole = resealed({ ...stored, tasks: { ...stored.tasks, ...rest } }, redact);
  try {
    await store.runs.update({ ...whole, status, version: stored.version + 1, updatedAt: clock.now() });
    return true;
  } catch (error) {
    if (error instanceof PmlError && error.code === 'store_conflict') return false;
    throw error;
  }
}

function endOfPlan(driver: RunDriver, ended: Ended, status: RunResult['status']): RunEnd {
  return {
    status,
    success: status === 'success',
    taskResults: taskResults(driver, ended),
    ...(status !== 'success' && { errorMessage: firstError(driver) }),
    // Kept from its end by a person who has to decide: it has not failed.
    ...(status === 'approval_required' && { errorType: 'PERMISSION' as const }),
  };
}

function storedStatus(status: RunResult['status']): WorkflowRun['status'] {
  return status === 'approval_required' || status === 'decision_required' ? 'paused' : status;
}

function taskResults(driver: RunDriver, { plan, targets }: Ended): TaskResult[] {
  return plan.tasks.map(({ id, dependsOn }, i) => {
    const state = driver.states.get(id) ?? PENDING;
    return {
      id,
      node: targets[i]!.node,
      depends_on: dependsOn,
      ...(shownState(state) as { status: TaskState['status'] }),
      ...(driver.earlier.has(id) && { earlier: true as const }),
      ...programsOf(driver, id),
    };
  });
}

/** Of a task and its items, where they are programs that ran in this drive. */
function programsOf({ attempts }: RunDriver, id: string): Pick<TaskResult, 'programs'> {
  const found = attempts.entries().flatMap(([key, { program }]) => {
    if (!program || (key !== id && !key.startsWith(itemKey(id, 0).slice(0, -2)))) return [];
    const { args: _, ...guest } = guestToWire(program.guest);
    return [[key, { ...guest, span: program.span }] as const];
  });
  const programs = Object.fromEntries(found);
  return Object.keys(programs).length === 0 ? {} : { programs };
}

function firstError({ states }: RunDriver): string | undefined {
  const failed = states.values().find(({ status }) => status === 'error');
  return failed?.status === 'error' ? failed.error.message : undefined;
}

/** The run with what is known to be secret by now hidden in all that was kept of it before. */
function resealed(run: WorkflowRun, redact: (value: unknown) => unknown): WorkflowRun {
  const { plan, intentText, tasks } = run;
  const clean = plan && keptPlan(plan, redact(plan) as Plan);
  const notKept = [...new Set([...(plan?.notKept ?? []), ...(clean?.notKept ?? [])])];
  return {
    ...run,
    intentText: intentText === null ? null : String(redact(intentText)),
    plan: clean && notKept.length > 0 ? { ...clean, notKept } : clean,
    tasks: Object.fromEntries(
      Object.entries(tasks).map(([key, state]) => [key, withoutSecrets(state, redact)]),
    ),
  };
}

/** A result that lost something is not whole any more. */
function withoutSecrets(state: unknown, redact: (value: unknown) => unknown): unknown {
  const clean = redact(state) as { readonly is_whole?: boolean };
  const isChanged = canonicalJson(clean) !== canonicalJson(state);
  return clean.is_whole && isChanged ? { ...clean, is_whole: false } : clean;
}
