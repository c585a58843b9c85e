import { recordedValue } from '../../core/tracing/read-values.ts';
import { createRecorder } from '../../core/tracing/recorder.ts';
import { isWhole } from '../../core/tracing/redact.ts';
import {
  type ExecutionTrace,
  type GuestConditions,
  runKindOf,
} from '../../core/vocabulary/execution-trace.ts';
import { capabilityNode, kindOf, type NodeId, splitToolId, type ToolId } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { type ErrorType, isEnd, type TraceEvent } from '../../core/vocabulary/trace-event.ts';
import type { Caller } from '../caller.ts';
import { judge } from '../calls/call-tool.ts';
import { asSeenBy } from '../capabilities/capability-registry.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { attemptProgram, type TaskAttempt } from '../code/attempt-program.ts';
import { type CallLog, type CallToMake, createCallLog } from '../code/call-log.ts';
import {
  createCassette,
  createTape,
  type Difference,
  type ForkPoint,
  firstDifference,
  isDifference,
  missingFrom,
  type Tape,
  type TapedCall,
  tapeOf,
} from '../code/cassette.ts';
import type { Program } from '../code/program.ts';
import { ownershipOf } from '../people/roles.ts';
import type { JsonObject } from '../ports.ts';
import { ofOneRun, type Run, type RunResult, startRun } from './run.ts';
import type { ForkRequest, ReplayOptions } from './run-requests.ts';
import type { RunScope } from './run-scope.ts';
import type { ReplayReport } from './run-service.ts';
import { endOf, execute, type Past } from './single-run.ts';

const DEFAULTS = {
  /** Calls that are named to who asks for one that is not there. */
  named: 10,
};

/** A run as far as it can be run again. */
export interface Recording {
  readonly program: Program;
  /** The capability that it was a run of. */
  readonly node: NodeId | null;
  readonly guest: GuestConditions;
  readonly calls: readonly TapedCall[];
  readonly success: boolean;
  /** Of a run that succeeded. */
  readonly result: unknown;
  /** Of a program that failed; null where nothing can be compared. */
  readonly error: string | null;
  readonly notWhole: readonly string[];
  /** Several runs made the calls: which program made which is not known. */
  readonly isFlat?: boolean;
  /** Of a task of code: the span that its calls are below. */
  readonly span?: string | null;
}

/**
 * Throws where the trace does not hold what running it again takes, and says what is missing. `isPrefix`: only calls
 * before some call will be repeated, and whether they were recorded is looked at by who repeats them.
 */
export function recordingOf(trace: ExecutionTrace, isPrefix = false): Recording {
  const { code, guest, success, capabilityId } = trace;
  const calls = tapeOf(trace.events);
  if (runKindOf(trace) === 'workflow')
    throw unrepeatable(
      trace,
      'it is a workflow, which has no program',
      'Replay runs of code, capabilities and single calls.',
    );
  if (!isPrefix && isUnfinished(trace))
    throw unrepeatable(
      trace,
      'it was stopped before its end',
      'If the run was resumed, replay its later trace: see "pml trace ls".',
    );
  const hidden = isPrefix ? undefined : calls.find(isHidden);
  if (hidden)
    throw unrepeatable(
      trace,
      `${hidden.id} was not recorded in full`,
      'Set "record" to "full" for the tool, and run it again.',
    );
  const notWhole = calls.filter(({ outcome }) => !isWhole(outcome?.result)).map(({ id }) => id);
  if (code === null) return ofSingleCall(trace, calls, notWhole);
  if (!isWhole(code) || !isWhole(guest?.args))
    throw unrepeatable(trace, 'its program or its arguments held a secret that was not stored');
  if (!guest) throw unrepeatable(trace, 'the clock and the random numbers of its program were not stored');
  const isRead = Object.values(guest.results ?? {}).every(({ reply }) => reply !== undefined);
  if (!isRead || !isWhole(guest.results))
    throw unrepeatable(trace, 'it read an earlier result, which was not recorded in full');
  const [task] = trace.taskResults as readonly { readonly result?: unknown }[];
  return {
    program: { source: code, args: (guest.args ?? {}) as JsonObject },
    node: capabilityId === null ? null : capabilityNode(capabilityId),
    guest,
    calls,
    success,
    result: task?.result,
    error: trace.errorMessage,
    notWhole,
  };
}

/** The program that would have made the call. */
function ofSingleCall(
  trace: ExecutionTrace,
  calls: readonly TapedCall[],
  notWhole: readonly string[],
): Recording {
  const [call] = calls;
  if (!call || calls.length > 1 || kindOf(call.node) !== 'tool')
    throw unrepeatable(trace, 'it has no program', 'Replay runs of code, capabilities and single calls.');
  if (!isWhole(call.args))
    throw unrepeatable(trace, `the arguments of ${call.id} held a secret that was not stored`);
  const { server, tool } = splitToolId(call.node as ToolId);
  return {
    program: {
      source: `return await mcp[${JSON.stringify(server)}][${JSON.stringify(tool)}](args);`,
      args: (call.args ?? {}) as JsonObject,
    },
    node: null,
    guest: { seed: trace.runId, startedAt: trace.executedAt.getTime() },
    calls,
    success: trace.success,
    result: recordedValue(call.outcome?.result),
    error: null,
    notWhole,
  };
}

/** It was cancelled, or a person had to decide. */
function isUnfinished({ taskResults }: ExecutionTrace): boolean {
  const [only] = taskResults as readonly {
    readonly status?: string;
    readonly error?: { readonly code?: string };
  }[];
  return only?.status === 'approval_required' || only?.error?.code === 'cancelled';
}

/** Of a tool of which only the fact of the call is kept, or which had not ended. */
export function isHidden({ node, args, outcome }: TapedCall): boolean {
  if (!outcome) return true;
  if (kindOf(node) !== 'tool') return false;
  return args === undefined || (outcome.success ? outcome.result === undefined : outcome.error === undefined);
}

export function unrepeatable({ id }: ExecutionTrace, why: string, hint?: string): PmlError {
  return new PmlError(
    'not_available',
    `Trace ${id} cannot be run again: ${why}`,
    hint === undefined ? {} : { hint },
  );
}

/** Runs what a trace recorded once more, and tells where it first differs. */
export async function replayRun(
  whole: RunScope,
  trace: ExecutionTrace,
  { against, ignore = [] }: ReplayOptions,
  caller: Caller,
): Promise<ReplayReport> {
  const recording = recordingOf(trace);
  const scope = ofOneRun(asSeenBy(whole, caller));
  const ignored = new Set(ignore);
  const told = { traceId: trace.id, against, calls: recording.calls.length, notWhole: recording.notWhole };
  const { difference, replayTraceId } =
    against === 'live'
      ? await replayLive(scope, trace, recording, ignored, caller)
      : { difference: (await play(scope, recording, caller, ignored)).difference, replayTraceId: null };
  return { ...told, isEqual: difference === null, difference, replayTraceId };
}

export interface Played {
  readonly made: TaskAttempt;
  readonly difference: Difference | null;
}

/** On the cassette: nothing is called, stored or told. */
export async function play(
  scope: RunScope,
  recording: Recording,
  caller: Caller,
  ignored: ReadonlySet<string> = new Set(),
): Promise<Played> {
  const { ports, settings } = scope;
  const { guest, node } = recording;
  const { isFlat = false } = recording;
  const tape = createTape(recording.calls, ports.redact, isFlat);
  let first: Difference | null = null;
  const onDifference = (difference: Difference) => {
    first ??= difference;
  };
  const run = silentRun(scope, (event) => {
    if (event.type !== 'capability_start' || isFlat) return;
    const { parentTraceId: parent, node: to, args } = event;
    const differs = entered(tape, event.traceId, { parent, node: to, args });
    if (differs) onDifference(differs);
  });
  const { startedAt, answers = {}, results, seed } = guest;
  const cassette = createCassette({ tape, startedAt, answers, results, sleep: ports.sleep, onDifference });
  const log: CallLog = { ...cassette, keep() {}, finished: () => [] };
  const offline = {
    ...scope,
    settings: { ...settings, record: [] },
    findTool: async ({ tool }) => unlisted(tool),
  } as RunScope;
  const { onProgress: _, client: __, ...silent } = caller;
  const made = await attemptProgram({ scope: offline, run, caller: silent }, recording.program, {
    node,
    standing: { seed, startedAt, grants: [], calls: [] },
    log,
  });
  const missing = missingFrom(tape);
  const end = endDifference(recording, made, ports.redact, ignored);
  // A program that fails on its own says more than the calls it did not come to.
  const difference = first ?? (made.kind === 'done' ? (missing ?? end) : (end ?? missing));
  return { made, difference };
}

function entered(
  tape: Tape,
  traceId: string,
  call: Pick<CallToMake, 'parent' | 'node' | 'args'>,
): Difference | null {
  const found = tape.take(call);
  if (isDifference(found)) return found;
  tape.bind(traceId, found);
  return null;
}

/** How the run ended, against how it ended then. */
function endDifference(
  { success, result, error }: Recording,
  made: TaskAttempt,
  redact: (value: unknown) => unknown,
  ignored: ReadonlySet<string>,
): Difference | null {
  if (made.kind === 'done' && success) {
    const differs = firstDifference(redact(result), redact(made.value), ignored);
    return differs && { what: 'result', call: null, ...differs };
  }
  const replayed = made.kind === 'failed' ? redact(made.error.message) : null;
  const isSame = made.kind === 'failed' && !success && (error === null || error === replayed);
  return isSame ? null : { what: 'error', call: null, path: '', recorded: success ? null : error, replayed };
}

/** Of servers, where all that was called only reads. */
async function replayLive(
  scope: RunScope,
  trace: ExecutionTrace,
  recording: Recording,
  ignored: ReadonlySet<string>,
  caller: Caller,
): Promise<{ difference: Difference | null; replayTraceId: string | null }> {
  const why = await whyNotLive(scope, recording);
  if (why !== null)
    throw new PmlError('forbidden', `Trace ${trace.id} cannot be replayed live: ${why}`, {
      hint: 'Replay it against its cassette: its recorded calls stand in for the servers.',
    });
  const { calls, end, traceId } = await playLive(scope, recording, trace.intentText, caller, ignored);
  return { difference: calls ?? end, replayTraceId: traceId };
}

export interface PlayedLive {
  readonly made: TaskAttempt;
  /** Where its calls, or what they gave, first differ from the recorded ones. */
  readonly calls: Difference | null;
  /** How its end differs. */
  readonly end: Difference | null;
  /** Every server could be asked: what failed, failed for what it was given. */
  readonly isReached: boolean;
  readonly traceId: string | null;
}

/** On the servers, each call of which is refused unless it only reads; leaves a trace that teaches nothing. */
export async function playLive(
  scope: RunScope,
  recording: Recording,
  intent: string | null,
  caller: Caller,
  ignored: ReadonlySet<string> = new Set(),
): Promise<PlayedLive> {
  const { ports, traces, settings } = scope;
  const { guest, program, node } = recording;
  // What the owner lets PML do by itself is not thereby without effects.
  const reading = { ...scope, settings: { ...settings, permissions: { ...settings.permissions, auto: [] } } };
  const replayer: Caller = { ...caller, origin: 'replay' };
  const head = { runId: ports.crypto.randomUuid(), sessionId: null, origin: 'replay', intent } as const;
  const run = startRun(ports, traces, { ...head, ...ownershipOf(settings, caller) }, [
    program.args,
    program.source,
  ]);
  const { seed, startedAt } = guest;
  const made = await attemptProgram({ scope: reading, run, caller: replayer }, program, {
    node,
    standing: { seed, startedAt, grants: [], calls: [] },
  });
  const { traceId } = await run.finish(endOf(made));
  return {
    made,
    calls: callDifference(recording.calls, run.recorder.events, ports.redact, ignored, recording.isFlat),
    end: endDifference(recording, made, ports.redact, ignored),
    isReached: !run.recorder.events.some(
      (event) => isEnd(event) && event.errorType !== undefined && OUT_OF_REACH.has(event.errorType),
    ),
    traceId,
  };
}

const OUT_OF_REACH: ReadonlySet<ErrorType> = new Set(['NETWORK', 'TIMEOUT', 'PERMISSION']);

/** The first tool that may change something, or that a person would be asked about; null: all only read. */
export async function whyNotLive(scope: RunScope, { calls }: Recording): Promise<string | null> {
  for (const { node } of calls) {
    if (kindOf(node) !== 'tool') continue;
    const entry = await scope.findTool({ tool: node, arguments: {} });
    const verdict = judge(scope.settings, entry);
    if (entry.tool.annotations?.readOnlyHint !== true) return `${node} is not marked as read-only`;
    if (verdict.action !== 'allow') return `${node} needs a decision: ${verdict.reason}`;
  }
  return null;
}

/** The first call of a run that is not as it was recorded. */
function callDifference(
  recorded: readonly TapedCall[],
  events: readonly TraceEvent[],
  redact: (value: unknown) => unknown,
  ignored: ReadonlySet<string>,
  isFlat = false,
): Difference | null {
  const tape = createTape(recorded, redact, isFlat);
  for (const call of tapeOf(events)) {
    const found = tape.take(call);
    if (isDifference(found)) return found;
    tape.bind(call.traceId, found);
    const [then, now] = [found.outcome, call.outcome];
    if (then?.success !== now?.success || then?.error !== now?.error)
      return {
        what: 'error',
        call: found.id,
        path: '',
        recorded: then?.error ?? null,
        replayed: now?.error ?? null,
      };
    const differs = firstDifference(redact(then?.result), redact(now?.result), ignored);
    if (differs) return { what: 'result', call: found.id, ...differs };
  }
  return missingFrom(tape);
}

/** Nobody hears of it, and nothing of it is kept. */
export function silentRun({ ports, settings }: RunScope, onEvent: (event: TraceEvent) => void): Run {
  const { clock, crypto, redact } = ports;
  const recorder = createRecorder({ now: clock.monotonic, newId: crypto.randomUuid, redact, onEvent });
  const head = { runId: crypto.randomUuid(), sessionId: null, origin: 'replay', intent: null } as const;
  return {
    ...head,
    ...ownershipOf(settings, { sessionId: null }),
    recorder,
    startedTs: clock.monotonic(),
    finish: async () => ({ traceId: null, toolsUsed: [] }),
  };
}

/** A tool as a recording knows it: by its name. */
export function unlisted(id: string): CatalogueEntry {
  const { server, tool: name } = splitToolId(id as ToolId);
  const tool = { id: id as ToolId, server, name, description: '', inputSchema: {}, definitionHash: '' };
  return { tool, proposed: null };
}

/** Another run with the same past: what came before the call is answered from the trace, the rest is done now. */
export async function forkRun(
  scope: RunScope,
  trace: ExecutionTrace,
  { at, set, code }: ForkRequest,
  caller: Caller,
): Promise<RunResult> {
  const recording = recordingOf(trace, true);
  const call = callAt(recording, trace, at);
  checkPast(recording, trace, call);
  if (set && 'arguments' in set) await checkUnasked(scope, call);
  const { args } = recording.program;
  const source = code ?? recording.program.source;
  const capability = trace.capabilityId === null ? undefined : scope.capabilities.get(trace.capabilityId);
  const program = { source, args, ...(capability && { capability }) };
  const before = new Set(recording.calls.slice(0, recording.calls.indexOf(call)));
  const past = pastOf(recording, () => {}, { call, past: before, ...edit(set) });
  const forker: Caller = { ...caller, origin: 'fork' };
  return await execute(
    scope,
    program,
    trace.intentText ?? undefined,
    { code: source, arguments: args },
    forker,
    past,
  );
}

export function edit(set: ForkRequest['set']): Omit<ForkPoint, 'call' | 'past'> {
  if (!set) return {};
  return 'result' in set ? { result: { value: set.result } } : { arguments: set.arguments };
}

export function callAt({ calls }: Pick<Recording, 'calls'>, trace: ExecutionTrace, at: string): TapedCall {
  const tools = calls.filter(({ node }) => kindOf(node) === 'tool');
  const found = tools.find(({ id, traceId }) => id === at || traceId === at);
  if (found) return found;
  const names = tools.slice(0, DEFAULTS.named).map(({ id }) => id);
  throw new PmlError('not_found', `Trace ${trace.id} has no call ${at}`, {
    hint:
      names.length === 0
        ? 'It called no tool.'
        : `Its calls: ${names.join(', ')}${tools.length > names.length ? ', …' : '.'}`,
  });
}

/** What comes before must be known as the program saw it. */
export function checkPast({ calls }: Pick<Recording, 'calls'>, trace: ExecutionTrace, at: TapedCall): void {
  for (const call of calls.slice(0, calls.indexOf(at))) {
    if (kindOf(call.node) !== 'tool') continue;
    if (isHidden(call)) throw unrepeatable(trace, `${call.id} was not recorded in full`);
    if (!isWhole(call.outcome?.result))
      throw unrepeatable(
        trace,
        `the result of ${call.id} was stored redacted or cut`,
        'Fork it at that call, or before.',
      );
  }
}

/** A run that waits for a person is taken up by its program, which knows nothing of edited arguments. */
export async function checkUnasked(scope: RunScope, { node, id }: TapedCall): Promise<void> {
  const { action, reason } = judge(scope.settings, await scope.findTool({ tool: node, arguments: {} }));
  if (action !== 'ask') return;
  throw new PmlError('forbidden', `${id} cannot be given other arguments in a fork: ${reason}`, {
    hint: 'Set its result instead, or change the program with --code.',
  });
}

/** A past that can be looked at: `left` is the first of its calls that was not made again. */
type TapedPast = Past & Pick<Tape, 'left' | 'isTaken'>;

/** Without a fork nothing is ever called, and what differs is told. */
export function pastOf(
  { node, guest, calls, span }: Pick<Recording, 'node' | 'guest' | 'calls' | 'span'>,
  onDifference: (difference: Difference) => void,
  fork?: ForkPoint,
): TapedPast {
  const { seed, startedAt, answers = {}, results } = guest;
  let tape: Tape | null = null;
  return {
    node,
    standing: { seed, startedAt, grants: [], calls: [] },
    left: () => (tape ? tape.left() : (calls[0] ?? null)),
    isTaken: (call) => tape?.isTaken(call) ?? false,
    logFor({ ports }) {
      tape = createTape(calls, ports.redact);
      const { sleep } = ports;
      const cassette = createCassette({
        ...{ tape, startedAt, answers, results, sleep, onDifference },
        ...(fork && { fork }),
      });
      return { ...createCallLog(ports), ...cassette };
    },
    /** Calls within a capability, or a task of code, are found under the recorded one. */
    follow(run) {
      const { recorder } = run;
      const start: Run['recorder']['start'] = (to, parent, args, madeAt) => {
        const open = recorder.start(to, parent, args, madeAt);
        const { traceId } = open;
        if (kindOf(to) === 'capability') {
          const differs = entered(tape!, traceId, { parent, node: to, args });
          if (differs) onDifference(differs);
        } else if (parent === null && span) tape!.bind(traceId, { traceId: span });
        return open;
      };
      return { ...run, recorder: Object.assign(Object.create(recorder), { start }) as Run['recorder'] };
    },
  };
}
