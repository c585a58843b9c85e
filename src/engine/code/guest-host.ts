import { classifyError } from '../../core/tracing/recorder.ts';
import { operationId, toolId } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Caller } from '../caller.ts';
import type { Grants } from '../calls/approvals.ts';
import { type CallOutcome, callTool, recordLevel, toolText, toolValue } from '../calls/call-tool.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import type {
  Approval,
  GuestCallError,
  GuestHost,
  GuestReply,
  GuestToolCall,
  JsonObject,
  WallHold,
} from '../ports.ts';
import type { Run } from '../runs/run.ts';
import type { CallLog } from './call-log.ts';
import { codeFailure } from './code-failure.ts';
import type { CodeScope } from './code-scope.ts';
import type { Frame, Frames } from './enter-capability.ts';
import { enterCapability } from './enter-capability.ts';

export interface GuestHostParts {
  readonly scope: CodeScope;
  readonly run: Run;
  readonly frames: Frames;
  readonly log: CallLog;
  readonly grants: Grants;
  /** When the time that was set for the run is over, on the monotonic clock; asking a person waits no longer. */
  readonly until?: number;
  /** Its signal ends the calls under way, too. */
  readonly caller: Caller;
  /** The run cannot go on: a person has not decided in time, or a resumed run took another way. */
  readonly onHalt: (halt: Halt) => void;
}

export type Halt =
  | { readonly kind: 'waiting'; readonly approval: Approval }
  | { readonly kind: 'differs'; readonly error: PmlError };

/** A decision the program took, as it is kept with the trace. */
export interface DecisionTaken {
  readonly node: string;
  readonly taken: string;
  readonly at: number;
  readonly capability?: string;
}

export interface RunningHost extends GuestHost {
  readonly decisions: readonly DecisionTaken[];
  /** Resolves when no call is under way any more. */
  settled(): Promise<void>;
}

/**
 * Answers what the programs of one run ask for. The parent of a call is the frame it comes from;
 * nothing here keeps a stack, so it makes no difference what runs beside it.
 */
export function createGuestHost(parts: GuestHostParts): RunningHost {
  const { scope, run, frames, log } = parts;
  const { clock } = scope.ports;
  const underWay = new Set<Promise<unknown>>();
  const decisions: DecisionTaken[] = [];
  const now = () => clock.now().getTime();
  const track = <T>(work: Promise<T>): Promise<T> => {
    const done = work.finally(() => underWay.delete(done));
    underWay.add(done);
    return done;
  };

  async function answer(frame: Frame, call: GuestToolCall, hold: WallHold): Promise<GuestReply> {
    const key = frame.nextKey();
    const found = await find(frame, call);
    if ('name' in found) return { ok: false, error: found, at: now() };
    const { tool } = found;
    const isRepeatable = tool.annotations?.readOnlyHint === true;
    try {
      const before = await log.recall(key, tool.id, call.args, isRepeatable);
      const reply = before ? replay(frame, tool.id, call, before) : await make(frame, found, call, hold);
      if (reply) log.keep(key, tool.id, call.args, reply, recordLevel(scope.settings, tool.id) === 'full');
      return reply ?? halted(now());
    } catch (error) {
      if (!(error instanceof PmlError) || error.code !== 'replay_differs') throw error;
      parts.onHalt({ kind: 'differs', error });
      return halted(now());
    }
  }

  /** An unknown tool is a call that failed, and is traced as one. */
  async function find(frame: Frame, call: GuestToolCall): Promise<CatalogueEntry | GuestCallError> {
    const name = `${call.server}:${call.tool}`;
    try {
      return await scope.findTool({ tool: name, arguments: {} });
    } catch (thrown) {
      const { code, message, hint } = PmlError.from(thrown);
      const told = hint === undefined ? message : `${message}. ${hint}`;
      const span = isToolName(call) && run.recorder.start(toolId(call.server, call.tool), traceOf(frame));
      if (span) span.end({ success: false, error: message, errorType: 'NOT_FOUND' });
      return toolError(code, told, 'NOT_FOUND');
    }
  }

  function replay(frame: Frame, node: CatalogueEntry['tool']['id'], call: GuestToolCall, reply: GuestReply) {
    // A tool with another level has no recorded reply to replay.
    if (recordLevel(scope.settings, node) !== 'full') return reply;
    const span = run.recorder.start(node, traceOf(frame), call.args);
    if (reply.ok) span.end({ success: true, result: reply.value });
    else
      span.end({ success: false, error: reply.error.message, errorType: reply.error.errorType ?? 'UNKNOWN' });
    return reply;
  }

  /** Null: it waits for a person. */
  async function make(
    frame: Frame,
    entry: CatalogueEntry,
    call: GuestToolCall,
    hold: WallHold,
  ): Promise<GuestReply | null> {
    const callScope = {
      ...scope,
      runId: run.runId,
      recorder: run.recorder,
      parent: traceOf(frame),
      caller: parts.caller,
      grants: parts.grants,
      whileAsking: hold,
      ...(parts.until !== undefined && { askUntil: parts.until }),
    };
    const outcome = await callTool(callScope, entry, {
      tool: entry.tool.id,
      arguments: (call.args ?? {}) as JsonObject,
    });
    if (outcome.kind === 'waiting') {
      parts.onHalt({ kind: 'waiting', approval: outcome.approval });
      return null;
    }
    return { ...replyOf(outcome), at: now() } as GuestReply;
  }

  return {
    decisions,
    callTool: (frame, call, hold) => track(answer(frames.get(frame), call, hold)),

    async enterCapability(number, slug, args) {
      const entered = enterCapability(scope, run, frames, frames.get(number), slug, args);
      return { ...entered, at: now() };
    },

    leaveCapability(number, end, at) {
      const { span } = frames.get(number);
      if (end.ok) return span?.end({ success: true, result: end.value }, at);
      const { error, errorType } = codeFailure(end.error, frames.locate);
      const type = errorType ?? classifyError(error.message);
      span?.end({ success: false, error: error.message, errorType: type }, at);
    },

    mark(number, mark) {
      const frame = frames.get(number);
      const site = frame.program.sites[mark.site];
      if (mark.kind === 'operation' && site?.kind === 'operation') {
        const { startedAt, endedAt, success } = mark;
        run.recorder.record(operationId(site.operation), traceOf(frame), { startedAt, endedAt, success });
      } else if (mark.kind === 'decision' && site?.kind === 'decision') {
        const capability = frame.lineage.at(-1)?.slug;
        const at = mark.at - run.startedTs;
        decisions.push({ node: site.node, taken: mark.taken, at, ...(capability && { capability }) });
      }
    },

    async settled() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

function traceOf({ span }: Frame): string | null {
  return span?.traceId ?? null;
}

function replyOf(outcome: Exclude<CallOutcome, { kind: 'waiting' }>) {
  if (outcome.kind !== 'ran') {
    const { code, message } = outcome.error;
    const errorType = outcome.kind === 'failed' ? outcome.error.errorType : 'PERMISSION';
    return { ok: false, error: toolError(code, message, errorType) };
  }
  if (outcome.result.isError === true) {
    return { ok: false, error: toolError('tool_failed', toolText(outcome.result) || 'The tool failed') };
  }
  return { ok: true, value: toolValue(outcome.result) };
}

function toolError(code: string, message: string, errorType?: ErrorType): GuestCallError {
  return { name: 'ToolError', code, message, ...(errorType && { errorType }) };
}

/** The guest is being ended; it does not live to see this. */
function halted(at: number): GuestReply {
  return { ok: false, error: toolError('cancelled', 'The run was halted'), at };
}

function isToolName({ server, tool }: GuestToolCall): boolean {
  try {
    toolId(server, tool);
    return true;
  } catch {
    return false;
  }
}
