import { callSpans } from '../../tracing/derive-trace.ts';
import { observedValueFlow } from '../../tracing/value-flow.ts';
import type { ExecutionTrace } from '../../vocabulary/execution-trace.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import { isJsonObject } from '../../vocabulary/read-wire.ts';
import type { ErrorType, TraceEvent } from '../../vocabulary/trace-event.ts';

const DEFAULTS = {
  /** Calls of one run that are looked at. */
  calls: 200,
  /** Pairs of calls, and sets of arguments, that are remembered. */
  remembered: 20_000,
  /** Successful runs with a tool before what follows it, or what it is given, can be odd. */
  usual: 3,
  /** Runs that a rate of failure is worth before any was seen. */
  prior: 2,
  /** Errors, and calls without a value from before, that count as many. */
  errors: 3,
  idle: 5,
  length: 20,
};

/** What is told of a run after each of its calls, in this order; all in [0, 1]. */
export const RUN_SIGNALS = [
  'errorShare',
  'errors',
  'failed',
  'failedInARow',
  'repeatShare',
  'repeated',
  'retried',
  'flowShare',
  'sinceFlow',
  'emptyShare',
  'length',
  'followFailure',
  'worstFollowFailure',
  'oddFollow',
  'oddFollowShare',
  'expected',
  'toolFailure',
  'oddArguments',
  'oddArgumentsShare',
] as const;

/** What came after what, with which arguments, in runs that succeeded and in runs that failed. */
export class RunMemory {
  readonly #follows = new Map<string, Outcomes>();
  readonly #tools = new Map<string, Outcomes>();
  readonly #arguments = new Map<string, Outcomes>();
  readonly runs: Outcomes = { succeeded: 0, failed: 0 };

  /** After the run was predicted: it must not predict itself. */
  add(events: readonly TraceEvent[], success: boolean): void {
    const calls = callsOf(events);
    const outcome = success ? 'succeeded' : 'failed';
    this.runs[outcome]++;
    const count = (into: Map<string, Outcomes>, keys: Iterable<string>) => {
      for (const key of new Set(keys)) {
        const known = into.get(key) ?? { succeeded: 0, failed: 0 };
        known[outcome]++;
        // What is used again stays; the oldest goes.
        into.delete(key);
        into.set(key, known);
        if (into.size > DEFAULTS.remembered) into.delete(into.keys().next().value!);
      }
    };
    const nodes = calls.map(({ node }) => node);
    count(this.#tools, nodes);
    count(
      this.#follows,
      [...nodes, END].map((node, i) => followKey(nodes[i - 1] ?? START, node)),
    );
    count(
      this.#arguments,
      calls.map(({ node, names }) => argumentKey(node, names)),
    );
  }

  /** After each call that has ended, in order: what was called, and the signals. */
  signals(events: readonly TraceEvent[]): { readonly node: NodeId; readonly values: Float32Array }[] {
    const calls = callsOf(events);
    const flows = new Set(observedValueFlow(upTo(calls.at(-1), events)).map(({ toTraceId }) => toTraceId));
    const rows: { readonly node: NodeId; readonly values: Float32Array }[] = [];
    const made = new Set<string>();
    const sums = { errors: 0, inARow: 0, repeats: 0, flows: 0, idle: 0, empty: 0, oddFollow: 0, oddNames: 0 };
    let worst = 0;
    for (const [i, call] of calls.entries()) {
      const before = calls[i - 1];
      const isRepeat = made.has(call.question);
      made.add(call.question);
      const isFlowing = flows.has(call.traceId);
      const from = before?.node ?? START;
      const follow = this.#follows.get(followKey(from, call.node));
      const fromCount = from === START ? this.runs.succeeded : (this.#tools.get(from)?.succeeded ?? 0);
      const isOddFollow = fromCount >= DEFAULTS.usual && !follow?.succeeded;
      const tool = this.#tools.get(call.node);
      const isOddNames =
        (tool?.succeeded ?? 0) >= DEFAULTS.usual &&
        !this.#arguments.get(argumentKey(call.node, call.names))?.succeeded;
      sums.errors += Number(!call.success);
      sums.inARow = call.success ? 0 : sums.inARow + 1;
      sums.repeats += Number(isRepeat);
      sums.flows += Number(isFlowing);
      sums.idle = isFlowing ? 0 : sums.idle + 1;
      sums.empty += Number(call.isEmpty);
      sums.oddFollow += Number(isOddFollow);
      sums.oddNames += Number(isOddNames);
      const followFailure = this.#failureRate(follow);
      worst = Math.max(worst, followFailure);
      const n = i + 1;
      rows.push({
        node: call.node,
        values: Float32Array.of(
          sums.errors / n,
          Math.min(1, sums.errors / DEFAULTS.errors),
          Number(!call.success),
          Math.min(1, sums.inARow / DEFAULTS.errors),
          sums.repeats / n,
          Number(isRepeat),
          Number(before !== undefined && !before.success && before.node === call.node),
          sums.flows / Math.max(1, i),
          Math.min(1, sums.idle / DEFAULTS.idle),
          sums.empty / n,
          Math.min(1, Math.log1p(n) / Math.log1p(DEFAULTS.length)),
          followFailure,
          worst,
          Number(isOddFollow),
          sums.oddFollow / n,
          fromCount === 0 ? 0.5 : Math.min(1, (follow?.succeeded ?? 0) / fromCount),
          this.#failureRate(tool),
          Number(isOddNames),
          sums.oddNames / n,
        ),
      });
    }
    return rows;
  }

  /** What successful runs called right after a tool most often; null where too few did. */
  usualAfter(node: NodeId): { readonly node: NodeId; readonly runs: number; readonly of: number } | null {
    const of = this.#tools.get(node)?.succeeded ?? 0;
    let most: { readonly node: NodeId; readonly runs: number; readonly of: number } | null = null;
    for (const [key, { succeeded }] of this.#follows) {
      const [from, to] = key.split(' ');
      if (from !== node || to === END || to === node) continue;
      if (succeeded >= DEFAULTS.usual && succeeded > (most?.runs ?? 0))
        most = { node: to as NodeId, runs: succeeded, of };
    }
    return most;
  }

  #failureRate(outcomes: Outcomes | undefined): number {
    const { succeeded, failed } = this.runs;
    const base = (failed + 1) / (succeeded + failed + 2);
    const [bad, all] = [outcomes?.failed ?? 0, (outcomes?.failed ?? 0) + (outcomes?.succeeded ?? 0)];
    return (bad + DEFAULTS.prior * base) / (all + DEFAULTS.prior);
  }
}

interface Outcomes {
  succeeded: number;
  failed: number;
}

const START = '^';
const END = '$';

/** Ids have no spaces. */
const followKey = (from: string, to: string) => `${from} ${to}`;
const argumentKey = (node: string, names: string) => `${node} ${names}`;

interface SeenCall {
  readonly traceId: string;
  readonly node: NodeId;
  readonly success: boolean;
  readonly isEmpty: boolean;
  /** Of its arguments, in order. */
  readonly names: string;
  /** The tool with its arguments. */
  readonly question: string;
}

function callsOf(events: readonly TraceEvent[]): SeenCall[] {
  return callSpans(events)
    .flatMap(({ start, end }) => (end ? [{ start, end }] : []))
    .slice(0, DEFAULTS.calls)
    .map(({ start, end }) => ({
      traceId: start.traceId,
      node: start.node,
      success: end.success,
      isEmpty: end.success && isEmpty(end.result),
      names: isJsonObject(start.args) ? Object.keys(start.args).sort().join() : '',
      question: `${start.node} ${JSON.stringify(start.args)}`,
    }));
}

/** The events of the calls that began until this one did: what flows into these comes from these. */
function upTo(last: SeenCall | undefined, events: readonly TraceEvent[]): readonly TraceEvent[] {
  const spans = callSpans(events);
  const begun = new Set(spans.map(({ start }) => start.traceId));
  for (const { start } of spans.slice(spans.findIndex((span) => span.start.traceId === last?.traceId) + 1))
    begun.delete(start.traceId);
  return begun.size === spans.length ? events : events.filter(({ traceId }) => begun.has(traceId));
}

function isEmpty(result: unknown): boolean {
  if (result === undefined || result === null || result === '') return true;
  if (Array.isArray(result)) return result.length === 0;
  return isJsonObject(result) && Object.values(result).every((value) => isEmpty(value));
}

/** What one run shows about one node: a tool, a capability or an operation. */
export interface NodeRun {
  readonly node: NodeId;
  /** Index of its first call in the executed path. */
  readonly first: number;
  readonly calls: number;
  /** Success of its last call, so that a successful retry counts; of the run if calls are unknown. */
  readonly success: boolean;
  /** Total duration of its calls; null if unknown. */
  readonly durationMs: number | null;
  /** Kinds of failures, its own included, before its last call began. */
  readonly errorsBefore: readonly ErrorType[];
}

interface Step {
  readonly node: NodeId;
  readonly success: boolean;
  readonly startTs: number;
  readonly durationMs: number | null;
}

export interface RunNodes {
  /** Length of the executed path. */
  readonly length: number;
  /** In order of first use. */
  readonly nodes: readonly NodeRun[];
}

export function nodeRuns(trace: ExecutionTrace): RunNodes {
  const { steps, failedAt } = readSteps(trace);
  const byNode = Map.groupBy(steps.entries(), ([, { node }]) => node);
  const nodes = Array.from(byNode, ([node, calls]) => {
    const last = calls.at(-1)![1];
    return {
      node,
      first: calls[0]![0],
      calls: calls.length,
      success: last.success,
      durationMs:
        last.durationMs === null ? null : calls.reduce((sum, [, call]) => sum + call.durationMs!, 0),
      errorsBefore: [...failedAt].flatMap(([type, ts]) => (ts <= last.startTs ? type : [])),
    };
  });
  return { length: steps.length, nodes };
}

/** The executed path with what is known about each call, and for each kind of error the time it first occurred. */
function readSteps(trace: ExecutionTrace): { steps: Step[]; failedAt: Map<ErrorType, number> } {
  const failedAt = new Map<ErrorType, number>();
  if (trace.events.length === 0) {
    const { success } = trace;
    const steps = trace.executedPath.map((node) => ({ node, success, startTs: 0, durationMs: null }));
    return { steps, failedAt };
  }
  const steps = callSpans(trace.events).map(({ start, end, startTs, endTs }) => {
    if (end && !end.success) {
      const type = end.errorType ?? 'UNKNOWN';
      failedAt.set(type, Math.min(endTs, failedAt.get(type) ?? Number.POSITIVE_INFINITY));
    }
    return { node: start.node, success: end?.success ?? false, startTs, durationMs: endTs - startTs };
  });
  return { steps, failedAt };
}
