import { decide, type Verdict } from '../core/policy/decide.ts';
import { matchesAnyCase } from '../core/policy/glob.ts';
import { classifyError } from '../core/tracing/classify-error.ts';
import type { Recorder } from '../core/tracing/recorder.ts';
import type { ErrorShape } from '../core/vocabulary/pml-error.ts';
import { mayBeCalledTwice, type ToolDefinition } from '../core/vocabulary/tool-definition.ts';
import type { ApprovalDesk } from './approval-desk.ts';
import { askPerson, exactCall } from './ask-person.ts';
import type { CatalogueEntry } from './catalogue.ts';
import type { FlowPorts } from './flow-ports.ts';
import type { Caller, ToolCall } from './gateway.ts';
import type { Approval, Settings, ToolResult, UpstreamFailure, UpstreamReply } from './ports.ts';
import { toolText, valueToKeep } from './tool-value.ts';

export interface CallScope {
  readonly ports: FlowPorts;
  readonly desk: ApprovalDesk;
  readonly settings: Settings;
  readonly runId: string;
  readonly recorder: Recorder;
  /** Trace id of the capability or task that calls; null at the root of the run. */
  readonly parent: string | null;
  readonly caller: Caller;
  /** What a person has allowed this run before it began. */
  readonly grants?: Grants;
  /** On the monotonic clock: a person is not waited for any longer. */
  readonly askUntil?: number;
  /** Told when a person is being asked; the answer is called when that is over. */
  readonly whileAsking?: () => () => void;
  /** Done when the call may be made and before it is; what fails here keeps it from being made. */
  readonly beforeCall?: () => Promise<void>;
  /** What the very same call gave that was made ahead of its turn; null: it has to be made. */
  readonly madeAhead?: Promise<ToolResult | null> | null;
}

/** Approvals of exact calls, each good for one. */
export interface Grants {
  take(argumentsHash: string): boolean;
}

export type CallOutcome =
  /** The tool ran; `isError` in it says that it failed by its own account. */
  | { readonly kind: 'ran'; readonly result: ToolResult }
  | { readonly kind: 'failed'; readonly error: UpstreamFailure }
  | { readonly kind: 'refused'; readonly error: ErrorShape }
  | { readonly kind: 'waiting'; readonly approval: Approval };

/** The one place where policy, timeout, retry and trace surround an upstream call; every call comes here. */
export async function callTool(
  scope: CallScope,
  entry: CatalogueEntry,
  call: ToolCall,
): Promise<CallOutcome> {
  const refusal = await passPolicy(scope, entry, call);
  if (refusal) return refusal;
  await scope.beforeCall?.();
  const { tool } = entry;
  const keep = recordLevel(scope.settings, tool.id);
  const span =
    keep === 'none'
      ? null
      : scope.recorder.start(tool.id, scope.parent, keep === 'full' ? call.arguments : undefined);
  const reply = await callUpstream(scope, entry, call);
  if (!reply.ok) {
    span?.end({ success: false, error: reply.error.message, errorType: reply.error.errorType });
    return { kind: 'failed', error: reply.error };
  }
  const result = reply.value;
  const complaint = result.isError === true ? toolText(result) : null;
  span?.end({
    success: complaint === null,
    ...(keep === 'full' && { result: valueToKeep(result) }),
    ...(complaint !== null && { error: complaint, errorType: classifyError(complaint) }),
  });
  return { kind: 'ran', result };
}

/** Null: go ahead. */
async function passPolicy(
  scope: CallScope,
  entry: CatalogueEntry,
  call: ToolCall,
): Promise<CallOutcome | null> {
  const { ports, desk, settings, runId, caller } = scope;
  const { tool, proposed } = entry;
  const verdict = judge(settings, entry);
  if (verdict.action === 'allow') return null;
  if (verdict.action === 'deny') return { kind: 'refused', error: notAllowed(tool, verdict) };
  const question = {
    runId,
    tool: proposed ?? tool,
    ...(proposed && { accepted: tool }),
    arguments: call.arguments,
    reason: verdict.reason,
    waitMs: waitFor(settings, call.timeoutMs ?? timeLeft(scope)),
    mayClientDecide: settings.permissions.clientsDecide,
  };
  if (scope.grants?.take(exactCall(ports, question.tool, call.arguments))) return null;
  const goOn = scope.whileAsking?.();
  const answer = await askPerson(ports, desk, question, caller).finally(goOn);
  if (answer.kind === 'open') return { kind: 'waiting', approval: answer.approval };
  return answer.kind === 'rejected' ? { kind: 'refused', error: rejected(tool) } : null;
}

function timeLeft({ askUntil, ports }: CallScope): number | undefined {
  return askUntil === undefined ? undefined : Math.max(0, askUntil - ports.clock.monotonic());
}

/** How long a person may take: whoever set a time for the call does not wait longer than that. */
export function waitFor({ permissions }: Settings, timeoutMs = Number.POSITIVE_INFINITY): number {
  return Math.min(permissions.approvalWaitMs, timeoutMs);
}

/** What the policy says of a tool, whatever its arguments. */
export function judge({ permissions }: Settings, { tool, proposed }: CatalogueEntry): Verdict {
  const verdict = decide(permissions, tool);
  return proposed ? askAboutChange(verdict) : verdict;
}

function askAboutChange(verdict: Verdict): Verdict {
  if (verdict.action === 'deny') return verdict;
  return { action: 'ask', reason: 'its server changed the definition of this tool since it was accepted' };
}

export function notAllowed({ id }: ToolDefinition, { reason }: Verdict): ErrorShape {
  return {
    code: 'forbidden',
    message: `${id} is not allowed: ${reason}`,
    hint: 'Change "permissions" in the configuration.',
  };
}

export function rejected({ id }: ToolDefinition): ErrorShape {
  return { code: 'forbidden', message: `A person rejected ${id} with these arguments` };
}

/** Once more after a lost connection, where the tool says that repeating changes nothing. */
async function callUpstream(
  { ports, caller, madeAhead }: CallScope,
  { tool }: CatalogueEntry,
  call: ToolCall,
): Promise<UpstreamReply<ToolResult>> {
  const made = await madeAhead;
  if (made) return { ok: true, value: made };
  const options = {
    ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
    ...(call.meta && { meta: call.meta }),
    ...(call.extraParams && { extraParams: call.extraParams }),
    ...(call.passInputRequired && { passInputRequired: true }),
    ...(caller.signal && { signal: caller.signal }),
    ...(caller.onProgress && { onProgress: caller.onProgress }),
    ...(caller.client && { client: caller.client }),
    ...(caller.who && { user: caller.who.user }),
  };
  const reply = await ports.upstream.callTool(tool.server, tool.name, call.arguments, options);
  if (reply.ok || reply.error.errorType !== 'NETWORK' || !mayBeCalledTwice(tool) || caller.signal?.aborted)
    return reply;
  return await ports.upstream.callTool(tool.server, tool.name, call.arguments, options);
}

function recordLevel(settings: Settings, toolId: string): 'none' | 'metadata' | 'full' {
  return settings.record.find((rule) => matchesAnyCase(rule.tools, toolId))?.keep ?? 'full';
}
