import { resolveReferences } from '../../core/planning/references.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import { NOT_RECORDED } from '../../core/tracing/recorder.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import { recordLevel } from '../calls/record-level.ts';
import type { JsonObject } from '../ports.ts';
import type { Attempt } from './attempt.ts';
import { attemptStep } from './attempt-step.ts';
import type { Drive, Step } from './drive.ts';
import { leaveToRun } from './leave-to-run.ts';
import { carriedBy, isOpen, PENDING, type TaskState } from './task-state.ts';

/** Worth another attempt: the others fail the same way again. */
const PASSING: readonly (ErrorType | null)[] = ['TIMEOUT', 'NETWORK', 'UNKNOWN', null];

/** One step to its end, or to where a person has to decide; answers the state it is in then. */
export async function runStep(drive: Drive, step: Step): Promise<TaskState> {
  const before = drive.states.get(step.key) ?? PENDING;
  if (!isOpen(before) || drive.caller.signal?.aborted) return before;
  try {
    const args =
      before.edited_arguments ?? (resolveReferences(step.task.arguments, step.values) as JsonObject);
    const leave = await leaveToRun(drive, step, args, before);
    if (leave.kind === 'open') return noted(drive, step, leave.state);
    if (leave.kind === 'refused') return noted(drive, step, failure(drive, leave.error));
    const begun: TaskState = { ...carriedBy(before), status: 'running', crashes: leave.crashes };
    return await runAttempts(drive, step, args, leave.grants, begun);
  } catch (error) {
    if (drive.stopped.aborted) return drive.states.get(step.key) ?? PENDING;
    return noted(drive, step, failure(drive, PmlError.from(error).toShape()));
  }
}

async function runAttempts(
  drive: Drive,
  step: Step,
  args: JsonObject,
  grants: readonly string[],
  begun: TaskState,
): Promise<TaskState> {
  const { scope, slots, stopped } = drive;
  const { attempts, delayMs } = step.task.retry ?? { attempts: 1, delayMs: 0 };
  const { standing } = carriedBy(begun);
  for (let attempt = 1; ; attempt++) {
    const startedAt = scope.ports.clock.monotonic();
    let giveBack = () => {};
    const begin = async () => {
      giveBack = await slots.take();
      if (drive.caller.signal?.aborted) throw new PmlError('cancelled', 'The run was cancelled');
      await drive.begin(step.key, begun);
    };
    const options = { arguments: args, grants, standing, begin };
    const made = await attemptStep(drive, step, options).finally(() => giveBack());
    // Of what was cut off nobody knows how it ended.
    if (stopped.aborted && made.kind === 'failed') return drive.states.get(step.key) ?? PENDING;
    const isLast = attempt >= attempts || drive.caller.signal?.aborted;
    if (made.kind !== 'failed' || isLast || !PASSING.includes(made.errorType)) {
      const took = scope.ports.clock.monotonic() - startedAt;
      if (made.kind === 'done') drive.ahead()?.learn(step, args, made.value ?? null);
      return noted(drive, step, ended(drive, step, made, begun, took));
    }
    await scope.ports.sleep(delayMs * 2 ** (attempt - 1), drive.caller.signal);
  }
}

function ended(drive: Drive, step: Step, made: Attempt, begun: TaskState, tookMs: number): TaskState {
  const { clock, redact } = drive.scope.ports;
  if (made.kind === 'failed') return failure(drive, made.error);
  if (made.kind === 'waiting') {
    const standing = made.standing ? { standing: made.standing } : {};
    return { ...carriedBy(begun), ...standing, status: 'waiting', approval_id: made.approval.id };
  }
  const value = made.value ?? null;
  drive.values.set(step.key, value);
  const result = isRecorded(drive, step) ? redact(value) : undefined;
  const isWhole = result !== undefined && canonicalJson(result) === canonicalJson(value);
  return {
    status: 'success',
    ...(result !== undefined && { result }),
    is_whole: isWhole,
    duration_ms: tookMs,
    at: clock.now().getTime(),
  };
}

function noted(drive: Drive, step: Step, state: TaskState): TaskState {
  if (drive.states.get(step.key) === state) return state;
  const isHidden = state.status === 'error' && !isRecorded(drive, step);
  drive.note(
    step.key,
    state,
    isHidden ? { ...state, error: { ...state.error, message: NOT_RECORDED } } : state,
  );
  return state;
}

/** Whether what the step gave may be kept: its tool says so, and a program's calls have not forbidden it. */
function isRecorded({ scope, run }: Drive, { task }: Step): boolean {
  return task.tool === undefined
    ? !run.recorder.isConcealed
    : recordLevel(scope.settings, task.tool) === 'full';
}

function failure({ scope }: Drive, error: ErrorShape): TaskState {
  const told = { ...error, message: String(scope.ports.redact(error.message)) };
  return { status: 'error', error: told, at: scope.ports.clock.now().getTime() };
}
