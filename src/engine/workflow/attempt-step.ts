import { classifyError } from '../../core/tracing/recorder.ts';
import { capabilityNode } from '../../core/vocabulary/ids.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import { createGrants } from '../calls/approvals.ts';
import { callTool, toolText, toolValue } from '../calls/call-tool.ts';
import { createCallLog } from '../code/call-log.ts';
import { previewPolicy } from '../code/check-program.ts';
import { codeFailure } from '../code/code-failure.ts';
import { openCapability } from '../code/enter-capability.ts';
import { runGuest } from '../code/execute-code.ts';
import type { Program } from '../code/program.ts';
import type { Approval, JsonObject } from '../ports.ts';
import type { RunDriver, Step } from './run-driver.ts';
import type { CodeResumePoint } from './task-state.ts';

export async function attemptStep(driver: RunDriver, step: Step, options: AttemptOptions): Promise<Attempt> {
  const { task } = step;
  return task.tool === undefined
    ? await runProgram(driver, step, options)
    : await attemptTool(driver, step, task.tool, options);
}

async function attemptTool(
  { scope, run, caller, onAsk, ahead }: RunDriver,
  step: Step,
  tool: string,
  { arguments: args, grants, begin }: AttemptOptions,
): Promise<Attempt> {
  const { task } = step;
  const call = {
    tool,
    arguments: args,
    ...(task.timeoutMs !== undefined && { timeoutMs: task.timeoutMs }),
  };
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
  const outcome = await callTool(callScope, entry, call);
  switch (outcome.kind) {
    case 'ran': {
      if (outcome.result.isError !== true) return { kind: 'done', value: toolValue(outcome.result) };
      const message = toolText(outcome.result) || 'The tool failed';
      return { kind: 'failed', error: { code: 'tool_failed', message }, errorType: classifyError(message) };
    }
    case 'failed': {
      const { code, message, hint, errorType } = outcome.error;
      return { kind: 'failed', error: { code, message, ...(hint !== undefined && { hint }) }, errorType };
    }
    case 'refused':
      return { kind: 'failed', error: outcome.error, errorType: 'PERMISSION' };
    case 'waiting':
      return outcome;
  }
}

/** How one attempt at a step ended. */
export type Attempt =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: ErrorShape; readonly errorType: ErrorType | null }
  | { readonly kind: 'waiting'; readonly approval: Approval; readonly standing?: CodeResumePoint };

export interface AttemptOptions {
  readonly arguments: JsonObject;
  /** Hashes of calls a person has allowed. */
  readonly grants: readonly string[];
  readonly standing?: CodeResumePoint | undefined;
  /** Writes down that it begins; nothing has an effect before. */
  readonly begin: () => Promise<void>;
}

/** A plan's code or capability in the sandbox, as one node of the run's trace with its calls below it. */
async function runProgram(driver: RunDriver, step: Step, options: AttemptOptions): Promise<Attempt> {
  const { scope, run, caller } = driver;
  const { ports } = scope;
  let program: Program;
  try {
    program = programOf(driver, step, options);
  } catch (error) {
    return failed(PmlError.from(error).toShape(), 'VALIDATION');
  }
  const prepared = scope.programs.prepare(program.source);
  if (!prepared.ok) return failed(prepared.error, 'VALIDATION');

  const standing = {
    seed: options.standing?.seed ?? ports.crypto.randomUuid(),
    startedAt: options.standing?.startedAt ?? ports.clock.now().getTime(),
  };
  const grants = createGrants([...(options.standing?.grants ?? []), ...options.grants]);
  const log = createCallLog(ports, options.standing?.calls ?? []);
  const waits = (approval: Approval): Attempt => ({
    kind: 'waiting',
    approval,
    standing: { ...standing, grants: grants.left(), calls: log.finished() },
  });

  // Any call of a program may be one that asks.
  driver.onAsk();
  const { structure } = prepared.value;
  const preview = await previewPolicy(scope, structure, { runId: run.runId, grants }, caller);
  if (preview.kind === 'refused') return failed(preview.error, 'PERMISSION');
  if (preview.kind === 'waiting') return waits(preview.approval);

  await options.begin();
  const node = program.capability ? capabilityNode(program.capability.id) : step.target.node;
  const root = run.recorder.start(node, null, program.args);
  const place = { ...standing, runId: run.runId, grants: [], calls: [] };
  const { outcome, halt, frames } = await runGuest(
    scope,
    prepared.value,
    program,
    { run, root, grants, log },
    place,
    caller,
  );
  const fail = (error: ErrorShape, errorType: ErrorType) => {
    root.end({ success: false, error: error.message, errorType });
    return failed(error, errorType);
  };
  if (halt?.kind === 'waiting') {
    const error = `${halt.approval.node} waits for a person`;
    root.end({ success: false, error, errorType: 'PERMISSION' });
    return waits(halt.approval);
  }
  if (halt) return fail(halt.error.toShape(), 'VALIDATION');
  if (!outcome.ok) {
    const { error, errorType } = codeFailure(outcome.error, frames.locate);
    return fail(error, errorType ?? 'UNKNOWN');
  }
  root.end({ success: true, result: outcome.value });
  return { kind: 'done', value: outcome.value };
}

function programOf({ scope }: RunDriver, { task, deps }: Step, { arguments: args }: AttemptOptions): Program {
  const timeout = task.timeoutMs === undefined ? {} : { timeoutMs: task.timeoutMs };
  if (task.capability === undefined) return { source: task.code ?? '', args, deps, ...timeout };
  const capability = scope.capabilities.known(task.capability);
  const opened = openCapability(scope, capability, args);
  return { source: capability.code, args: opened.args, capability, ...timeout };
}

function failed(error: ErrorShape, errorType: ErrorType): Attempt {
  return { kind: 'failed', error, errorType };
}
