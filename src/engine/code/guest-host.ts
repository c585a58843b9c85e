import { classifyError } from '../../core/tracing/recorder.ts';
import type { GuestAnswers, GuestResult, GuestResults } from '../../core/vocabulary/execution-trace.ts';
import { operationId, toolId } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { Caller } from '../caller.ts';
import type { Grants } from '../calls/approvals.ts';
import { type Attempt, callTool, recordLevel } from '../calls/call-tool.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import type {
  Approval,
  GuestCallError,
  GuestEntry,
  GuestHost,
  GuestReply,
  GuestToolCall,
  JsonObject,
  WallHold,
} from '../ports.ts';
import type { Run } from '../runs/run.ts';
import type { RunScope } from '../runs/run-scope.ts';
import type { CallLog } from './call-log.ts';
import { READ_RESULT } from './check-program.ts';
import { codeFailure } from './code-failure.ts';
import type { Frame, Frames } from './enter-capability.ts';
import { enterCapability } from './enter-capability.ts';

export interface GuestHostParts {
  readonly scope: RunScope;
  readonly run: Run;
  readonly frames: Frames;
  readonly log: CallLog;
  readonly grants: Grants;
  /** Names what the whole run does, of a single run. */
  readonly work?: () => string;
  /** When the time that was set for the run is over, on the monotonic clock; asking a person waits no longer. */
  readonly until?: number;
  /** First reading of the program's clock. */
  readonly startedAt: number;
  /** Its signal ends the calls under way, too. */
  readonly caller: Caller;
  /** Told of each call that has ended. */
  readonly onProgress?: NonNullable<Caller['onProgress']>;
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

const DEFAULTS = {
  /** Pictures and sounds of one run that reach its caller: the last ones, and their characters in all. */
  media: 4,
  mediaLength: 8 * 1024 * 1024,
};

export interface RunningHost extends GuestHost {
  readonly decisions: readonly DecisionTaken[];
  /** When each call was answered. */
  answers(): GuestAnswers;
  /** Earlier results that were read again. */
  results(): GuestResults;
  /** Pictures and sounds beside the text of tool results: programs see the text, their caller gets these. */
  media(): readonly JsonObject[];
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
  const answers: Record<string, GuestAnswers[string]> = {};
  const results: Record<string, GuestResult> = {};
  // An earlier result may be that of a tool of which nothing is to be kept.
  const isKept = scope.settings.record.every(({ keep }) => keep === 'full');
  let media: readonly JsonObject[] = [];
  let ended = 0;
  const now = () => clock.now().getTime();
  const track = <T>(work: Promise<T>): Promise<T> => {
    const done = work.finally(() => underWay.delete(done));
    underWay.add(done);
    return done;
  };

  /** The program's clock stands at the answer from now on, and a replay must see it stand there again. */
  const answered = <T extends GuestReply | GuestEntry>(key: string, reply: T): T => {
    const at = reply.at - parts.startedAt;
    answers[key] = reply.ok ? [at] : [at, reply.error.code];
    return reply;
  };

  async function answer(frame: Frame, call: GuestToolCall, hold: WallHold): Promise<GuestReply> {
    const key = frame.nextKey();
    return answered(key, await reply(key, frame, call, hold));
  }

  async function reply(key: string, frame: Frame, call: GuestToolCall, hold: WallHold): Promise<GuestReply> {
    if (`${call.server}:${call.tool}` === READ_RESULT) {
      const id = String((Object(call.args) as { id?: unknown }).id);
      const again = log.readAgain?.(key, id);
      if (again || parts.caller.readResult) {
        const given = again ?? { ...readResult(parts.caller.readResult!, id), at: now() };
        results[key] = { id, ...(isKept && { reply: kept(given) }) };
        return given;
      }
    }
    const found = await find(frame, call);
    if ('name' in found) return { ok: false, error: found, at: now() };
    const { tool } = found;
    const isRepeatable = tool.annotations?.readOnlyHint === true;
    try {
      const parent = traceOf(frame);
      const before = await log.recall({ key, node: tool.id, args: call.args, parent, isRepeatable });
      const reply = before
        ? replay(frame, tool.id, call, before)
        : await make(frame, found, edited(key, call), hold);
      if (reply)
        parts.onProgress?.({ progress: ++ended, message: `${tool.id} ${reply.ok ? 'done' : 'failed'}` });
      if (reply) log.keep(key, tool.id, call.args, reply, recordLevel(scope.settings, tool.id) === 'full');
      return reply ?? halted(now());
    } catch (error) {
      if (!(error instanceof PmlError) || error.code !== 'replay_differs') throw error;
      parts.onHalt({ kind: 'differs', error });
      return halted(now());
    }
  }

  function edited(key: string, call: GuestToolCall): GuestToolCall {
    const args = log.editedArguments?.(key);
    return args === undefined ? call : { ...call, args };
  }

  /** An unknown tool is a call that failed, and is traced as one. */
  async function find(frame: Frame, call: GuestToolCall): Promise<CatalogueEntry | GuestCallError> {
    const name = `${call.server}:${call.tool}`;
    try {
      return await scope.findTool({ tool: name, arguments: {} });
    } catch (thrown) {
      const { code, message, hint } = PmlError.from(thrown);
      const told = hint === undefined ? message : `${message}. ${hint}`;
      const span =
        isToolName(call) &&
        run.recorder.start(toolId(call.server, call.tool), traceOf(frame), undefined, call.madeAt);
      if (span) span.end({ success: false, error: message, errorType: 'NOT_FOUND' });
      return toolError(code, told, 'NOT_FOUND');
    }
  }

  function replay(frame: Frame, node: CatalogueEntry['tool']['id'], call: GuestToolCall, reply: GuestReply) {
    // A tool with another level has no recorded reply to replay.
    if (recordLevel(scope.settings, node) !== 'full') return reply;
    const span = run.recorder.start(node, traceOf(frame), call.args, call.madeAt);
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
      ...(parts.work && { work: parts.work }),
      ...(parts.until !== undefined && { askUntil: parts.until }),
      ...(call.madeAt !== undefined && { madeAt: call.madeAt }),
    };
    const made = await callTool(callScope, entry, {
      tool: entry.tool.id,
      arguments: (call.args ?? {}) as JsonObject,
    });
    if (made.kind === 'waiting') {
      parts.onHalt({ kind: 'waiting', approval: made.approval });
      return null;
    }
    media = lastMedia([...media, ...mediaIn(made)]);
    return { ...replyOf(made), at: now() } as GuestReply;
  }

  return {
    decisions,
    answers: () => answers,
    results: () => results,
    media: () => media,
    callTool: (frame, call, hold) => track(answer(frames.get(frame), call, hold)),

    async enterCapability(number, slug, args, madeAt) {
      const { key, ...entered } = enterCapability(scope, run, frames, frames.get(number), slug, args, madeAt);
      return answered(key, { ...entered, at: log.enteredAt?.(key) ?? now() });
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

function kept(reply: GuestReply): NonNullable<GuestResult['reply']> {
  if (reply.ok) return { ok: true, value: reply.value };
  const { code, message } = reply.error;
  return { ok: false, code, message };
}

/**
 * PML's own: no call of a tool, and not under policy, since it only repeats what this caller was given. What it gave is
 * kept with the trace, so that a replay is exact.
 */
function readResult(read: (id: string) => unknown, id: string) {
  try {
    return { ok: true, value: read(id) } as const;
  } catch (thrown) {
    const { code, message, hint } = PmlError.from(thrown);
    const told = hint === undefined ? message : `${message}. ${hint}`;
    return { ok: false, error: toolError(code, told, 'NOT_FOUND') } as const;
  }
}

function traceOf({ span }: Frame): string | null {
  return span?.traceId ?? null;
}

function replyOf(made: Exclude<Attempt, { kind: 'waiting' }>) {
  if (made.kind === 'done') return { ok: true, value: made.value };
  const { error, errorType, toolResult } = made;
  // What a tool says of itself is its own text, of no type.
  const type = toolResult || errorType === null ? undefined : errorType;
  return { ok: false, error: toolError(error.code, error.message, type) };
}

function mediaIn({ toolResult }: Exclude<Attempt, { kind: 'waiting' }>): readonly JsonObject[] {
  if (toolResult?.structuredContent !== undefined) return [];
  return (toolResult?.content ?? []).filter(({ type }) => type === 'image' || type === 'audio');
}

function lastMedia(media: readonly JsonObject[]): readonly JsonObject[] {
  let room = DEFAULTS.mediaLength;
  return media.slice(-DEFAULTS.media).filter(({ data }) => {
    room -= String(data).length;
    return room >= 0;
  });
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
