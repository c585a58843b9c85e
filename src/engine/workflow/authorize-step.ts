import type { ToolId } from '../../core/vocabulary/ids.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import { askPerson, exactCall, programHash } from '../calls/ask-person.ts';
import type { Approval, JsonObject } from '../ports.ts';
import type { RunDriver, Step } from './run-driver.ts';
import { carriedBy, type OpenState } from './task-state.ts';

const DEFAULTS = {
  /** What may be called twice is started again after a crash, but not for ever: it may be what crashes. */
  maxCrashes: 3,
};

/** Whether a step may begin, by what was left of it and what a person said. */
export type StepAuthorization =
  | { readonly kind: 'go'; readonly grants: readonly string[]; readonly crashes: number }
  | { readonly kind: 'refused'; readonly error: ErrorShape }
  /** A person has not decided yet. */
  | { readonly kind: 'open'; readonly state: OpenState };

const UNDER_WAY = 'It was in progress when the gateway stopped and may have run. Run it again?';

export async function authorizeStep(
  driver: RunDriver,
  step: Step,
  args: JsonObject,
  before: OpenState,
): Promise<StepAuthorization> {
  if (before.status === 'pending') return { kind: 'go', grants: [], crashes: 0 };
  if (before.status === 'running') return await afterCrash(driver, step, args, before);
  const { store } = driver.scope.ports;
  const approval = await store.approvals.get(before.approval_id);
  if (approval?.state === 'pending') await decided(driver, approval);
  const state = approval && (await store.approvals.get(approval.id))?.state;
  if (state === 'pending') return { kind: 'open', state: before };
  if (approval && state === 'rejected') return { kind: 'refused', error: rejection(approval, before) };
  // Within code the call itself looks for its approval, once it comes to be made.
  if (state === 'approved' && before.status === 'waiting' && before.standing) return go();
  if (before.status === 'unknown') {
    const isForThis =
      approval?.argumentsHash === exactCall(driver.scope.ports, await subjectOf(driver, step), args);
    if (!isForThis) return await ask(driver, step, args, before);
  }
  if (approval && state === 'approved' && (await store.approvals.use(approval.id)))
    return go([approval.argumentsHash]);
  // Used already, by somebody who did not get to write down that it began.
  if (before.status === 'unknown') return await ask(driver, step, args, before);
  return go();
}

function go(grants: readonly string[] = []): StepAuthorization {
  return { kind: 'go', grants, crashes: 0 };
}

async function afterCrash(
  driver: RunDriver,
  step: Step,
  args: JsonObject,
  before: Extract<OpenState, { status: 'running' }>,
): Promise<StepAuthorization> {
  const crashes = before.crashes + 1;
  const isHarmless = step.task.idempotent ?? step.target.isRepeatable;
  if (isHarmless && crashes < DEFAULTS.maxCrashes) return { kind: 'go', grants: [], crashes };
  return await ask(driver, step, args, before);
}

/** Asks about a step of which nobody knows whether it ran. */
async function ask(
  driver: RunDriver,
  step: Step,
  args: JsonObject,
  before: OpenState,
): Promise<StepAuthorization> {
  const { scope, run, caller } = driver;
  const question = {
    runId: run.runId,
    tool: await subjectOf(driver, step),
    arguments: args,
    ...programOf(step),
    reason: UNDER_WAY,
    waitMs: scope.settings.permissions.approvalWaitMs,
    mayClientDecide: scope.settings.permissions.clientsDecide,
    mustAskAgain: true,
  };
  const answer = await askPerson(scope.ports, scope.approvals, question, caller);
  if (answer.kind === 'approved') return go([answer.argumentsHash]);
  const state = {
    ...carriedBy(before),
    status: 'unknown',
    approval_id: answer.approval.id,
  } as const;
  if (answer.kind === 'open') return { kind: 'open', state };
  return { kind: 'refused', error: rejection(answer.approval, state) };
}

/** What an approval binds to: the tool as it is defined, or the program as it is written. */
async function subjectOf({ scope }: RunDriver, step: Step) {
  const { task, target } = step;
  if (task.tool !== undefined) {
    const entry = await scope.findTool({ tool: task.tool, arguments: {} });
    return entry.proposed ?? entry.tool;
  }
  const { program = {} } = programOf(step);
  return { id: target.node as ToolId, definitionHash: programHash(scope.ports, program) };
}

function programOf({ task: { code, capability } }: Step) {
  if (code === undefined && capability === undefined) return {};
  return {
    program: { ...(code !== undefined && { code }), ...(capability !== undefined && { capability }) },
  };
}

/** Waits a while for a person, where one can answer meanwhile. */
async function decided({ scope, caller }: RunDriver, approval: Approval): Promise<void> {
  const isSeen = !caller.isAtTerminal && scope.approvals.isAttended();
  const waitMs = isSeen ? scope.settings.permissions.approvalWaitMs : 0;
  await scope.approvals.decision(approval.id, waitMs, caller.signal);
}

function rejection({ node }: Approval, { status }: OpenState): ErrorShape {
  const message =
    status === 'unknown'
      ? `${node} may have run before the gateway stopped; a person decided not to run it again`
      : `A person rejected ${node} with these arguments`;
  return { code: 'forbidden', message };
}
