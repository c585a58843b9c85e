import { capabilityNode } from '../../core/vocabulary/ids.ts';
import { type ErrorShape, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import { createCallLog } from '../code/call-log.ts';
import { codeFailure } from '../code/code-failure.ts';
import { openCapability } from '../code/enter-capability.ts';
import { createGrants } from '../code/grants.ts';
import { previewPolicy } from '../code/preview-policy.ts';
import type { Program } from '../code/program.ts';
import { runGuest } from '../code/run-guest.ts';
import type { Approval } from '../ports.ts';
import type { Attempt, AttemptOptions } from './attempt.ts';
import type { RunDriver, Step } from './run-driver.ts';

/** A plan's code or capability in the sandbox, as one node of the run's trace with its calls below it. */
export async function runProgram(driver: RunDriver, step: Step, options: AttemptOptions): Promise<Attempt> {
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
