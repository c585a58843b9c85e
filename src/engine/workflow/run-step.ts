import { resolveReferences } from '../../core/planning/plan/references.ts';
import { canonicalJson } from '../../core/policy/call-hash.ts';
import { NOT_RECORDED } from '../../core/tracing/recorder.ts';
import { capabilityNode } from '../../core/vocabulary/ids.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import { createGrants } from '../calls/approvals.ts';
import { type Attempt, callTool, recordLevel } from '../calls/call-tool.ts';
import { attemptProgram, type TaskAttempt } from '../code/attempt-program.ts';
import { openCapability } from '../code/enter-capability.ts';
import type { Program, ResumePoint } from '../code/program.ts';
import type { JsonObject } from '../ports.ts';
import { authorizeStep } from './authorize-step.ts';
import type { RunDriver, Step, ToldCall } from './run-driver.ts';
import { carriedBy, isOpen, PENDING, type TaskState } from './task-state.ts';

/** Worth another attempt: the others fail the same way again. */
const PASSING: readonly (ErrorType | null)[] = ['TIMEOUT', 'NETWORK', 'UNKNOWN', null];

/** One step to its end, or to where a person has to decide; answers the state it is in then. */
export async function runStep(driver: RunDriver, step: Step): Promise<TaskState> {
  const before = driver.states.get(step.key) ?? PENDING;
  if (!isOpen(before) || driver.caller.signal?.aborted) return before;
  try {
    const args = before.edited_arguments ?? argumentsOf(driver, step);
    const authorization = await authorizeStep(driver, step, args, before);
    if (authorization.kind === 'open') return noted(driver, step, authorization.state);
    if (authorization.kind === 'refused') return noted(driver, step, failure(driver, authorization.error));
    const begun: TaskState = { ...carriedBy(before), status: 'running', crashes: authorization.crashes };
    return await runAttempts(driver, step, args, authorization.grants, begun);
  } catch (error) {
    if (driver.stopped.aborted) return driver.states.get(step.key) ?? PENDING;
    return noted(driver, step, failure(driver, PmlError.from(error).toShape()));
  }
}

function argumentsOf({ isSingle }: RunDriver, { task, values }: Step): JsonObject {
  return isSingle ? task.arguments : (resolveReferences(task.arguments, values) as JsonObject);
}

async function runAttempts(
  driver: RunDriver,
  step: Step,
  args: JsonObject,
  grants: readonly string[],
  begun: TaskState,
): Promise<TaskState> {
  const { scope, slots, stopped } = driver;
  const { attempts, delayMs } = step.task.retry ?? { attempts: 1, delayMs: 0 };
  const { standing } = carriedBy(begun);
  for (let attempt = 1; ; attempt++) {
    const startedAt = scope.ports.clock.monotonic();
    let giveBack = () => {};
    const begin = async () => {
      giveBack = await slots.take();
      if (driver.caller.signal?.aborted) throw new PmlError('cancelled', 'The run was cancelled');
      await driver.begin(step.key, begun);
    };
    const options = { arguments: args, grants, standing, begin };
    const made = await attemptStep(driver, step, options).finally(() => giveBack());
    // Of what was cut off nobody knows how it ended.
    if (stopped.aborted && made.kind === 'failed') return driver.states.get(step.key) ?? PENDING;
    const isLast = attempt >= attempts || driver.caller.signal?.aborted;
    if (made.kind !== 'failed' || isLast || !PASSING.includes(made.errorType)) {
      driver.attempts.set(step.key, made);
      const took = scope.ports.clock.monotonic() - startedAt;
      if (made.kind === 'done') driver.ahead()?.learn(step, args, made.value ?? null);
      return noted(driver, step, ended(driver, step, made, begun, took));
    }
    await scope.ports.sleep(delayMs * 2 ** (attempt - 1), driver.caller.signal);
  }
}

function ended(
  driver: RunDriver,
  step: Step,
  made: TaskAttempt,
  begun: TaskState,
  tookMs: number,
): TaskState {
  const { clock, redact } = driver.scope.ports;
  if (made.kind === 'failed') return failure(driver, made.error);
  if (made.kind === 'waiting') {
    const standing = made.standing ? { standing: made.standing } : {};
    return { ...carriedBy(begun), ...standing, status: 'waiting', approval_id: made.approval.id };
  }
  const value = made.value ?? null;
  driver.values.set(step.key, value);
  const result = isRecorded(driver, step) ? redact(value) : undefined;
  const isWhole = result !== undefined && canonicalJson(result) === canonicalJson(value);
  return {
    status: 'success',
    ...(result !== undefined && { result }),
    is_whole: isWhole,
    duration_ms: tookMs,
    at: clock.now().getTime(),
  };
}

function noted(driver: RunDriver, step: Step, state: TaskState): TaskState {
  if (driver.states.get(step.key) === state) return state;
  const isHidden = state.status === 'error' && !isRecorded(driver, step);
  driver.note(
    step.key,
    state,
    isHidden ? { ...state, error: { ...state.error, message: NOT_RECORDED } } : state,
  );
  return state;
}

/** Whether what the step gave may be kept: its tool says so, and a program's calls have not forbidden it. */
function isRecorded({ scope, run }: RunDriver, { task }: Step): boolean {
  return task.tool === undefined
    ? !run.recorder.isConcealed
    : recordLevel(scope.settings, task.tool) === 'full';
}

function failure({ scope }: RunDriver, error: ErrorShape): TaskState {
  const told = { ...error, message: String(scope.ports.redact(error.message)) };
  return { status: 'error', error: told, at: scope.ports.clock.now().getTime() };
}

interface AttemptOptions {
  readonly arguments: JsonObject;
  /** Hashes of calls a person has allowed. */
  readonly grants: readonly string[];
  readonly standing?: ResumePoint | undefined;
  /** Writes down that it begins; nothing has an effect before. */
  readonly begin: () => Promise<void>;
}

async function attemptStep(driver: RunDriver, step: Step, options: AttemptOptions): Promise<TaskAttempt> {
  const { tool } = step.task;
  if (tool !== undefined) return await attemptTool(driver, step, tool, options);
  let program: Program;
  try {
    program = programOf(driver, step, options);
  } catch (error) {
    return { kind: 'failed', error: PmlError.from(error).toShape(), errorType: 'VALIDATION' };
  }
  // Any call of a program may be one that asks.
  driver.onAsk();
  const { grants, standing, begin } = options;
  const node = nodeOf(driver, step, program);
  const past = standing ? undefined : driver.past?.program(step);
  const { scope, run, caller } = driver;
  return await attemptProgram({ scope, run: past ? past.follow(run) : run, caller }, program, {
    ...{ node, grants, standing, begin },
    ...(past && { standing: past.standing, log: past.logFor(scope) }),
  });
}

async function attemptTool(
  driver: RunDriver,
  step: Step,
  tool: string,
  { arguments: given, grants, begin }: AttemptOptions,
): Promise<Attempt> {
  const { scope, run, caller, onAsk, ahead } = driver;
  const { timeoutMs } = step.task;
  const told = await driver.past?.tool(step, given);
  if (told && 'made' in told) {
    await begin();
    return retold(driver, step, given, told);
  }
  const args = told?.arguments ?? given;
  const call = { tool, arguments: args, ...(timeoutMs !== undefined && { timeoutMs }) };
  const entry = await scope.findTool(call).catch((error: unknown) => PmlError.from(error));
  if (entry instanceof PmlError) return { kind: 'failed', error: entry.toShape(), errorType: 'NOT_FOUND' };
  const callScope = {
    ...scope,
    runId: run.runId,
    recorder: run.recorder,
    parent: null,
    caller,
    grants: createGrants(grants),
    beforeCall: begin,
    madeAhead: ahead()?.take(step, args) ?? null,
    whileAsking() {
      onAsk();
      return () => {};
    },
  };
  return await callTool(callScope, entry, call);
}

/** What was answered then stands in the trace of this run, too. */
function retold({ run }: RunDriver, { target }: Step, args: JsonObject, { made, result }: ToldCall): Attempt {
  const span = run.recorder.start(target.node, null, args);
  span.end({
    success: made.kind === 'done',
    ...(result !== undefined && { result }),
    ...(made.kind === 'failed' && { error: made.error.message, errorType: made.errorType ?? 'UNKNOWN' }),
  });
  return made;
}

function programOf({ scope }: RunDriver, { task, deps }: Step, { arguments: args }: AttemptOptions): Program {
  const timeout = task.timeoutMs === undefined ? {} : { timeoutMs: task.timeoutMs };
  if (task.capability === undefined) return { source: task.code ?? '', args, deps, ...timeout };
  const capability = scope.capabilities.known(task.capability);
  const opened = openCapability(scope, capability, args);
  return { source: capability.code, args: opened.args, capability, ...timeout };
}

/** One node of the run's trace with its calls below it; code that is the whole run is the trace itself. */
function nodeOf({ isSingle }: RunDriver, { target }: Step, { capability }: Program) {
  if (capability) return capabilityNode(capability.id);
  return isSingle ? null : target.node;
}
