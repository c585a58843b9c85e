import type { ExecutionTrace } from '../../vocabulary/execution-trace.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import { ERROR_TYPES, type ErrorType } from '../../vocabulary/trace-event.ts';
import { type NodeRun, nodeRuns } from './run-signals.ts';
import { type EmbeddedIntent, IntentMemory, type IntentRun, SessionEnds } from './statistics-memory.ts';

const DEFAULTS = {
  /** A node with fewer runs has the cold-start values. */
  minimumRuns: 5,
  /** Most distinct nodes of one run that are paired with each other. */
  pairedNodes: 64,
  /** Recency falls to 1/e in a day. */
  recencyMs: 24 * 60 * 60 * 1000,
  /** A mean call duration of a minute or more counts as the slowest. */
  slowestMs: 60_000,
  /** Steps to success, and their standard deviation, that are mapped to .5. */
  usualSteps: 3,
  /** Most nodes in the cache, at 68 bytes each. */
  entries: 4096,
};

/**
 * The statistics in order, with their values until a node has five runs. A run of node n is one that called it; n
 * succeeded in it if its last call there did. The session's last five nodes count as preceding its next run. All
 * values are in [0, 1].
 */
const COLD_START = {
  /** Share of n's runs in which it succeeded. */
  historicalSuccessRate: 0.5,
  /** The same over n's runs after c, for all nodes c of the context together; .5 if there are none. */
  contextualSuccessRate: 0.5,
  /** Share of successful runs among those of n, within the 50 nearest past runs with an intent of cosine >= .7. */
  intentSimilarSuccessRate: 0.5,
  /** Share of n's runs with c in them or before them, averaged over the nodes c of the context. */
  cooccurrenceWithContext: 0,
  /** Mean position of its first call in the executed path: 0 first, 1 last, .5 in a path of one. */
  sequencePosition: 0.5,
  /** exp(-time since its last use / 1 day) */
  recencyScore: 0.5,
  /** n's runs / runs of the most used node. */
  usageFrequency: 0,
  /** log(1 + t) / log(1 + 1 minute), t the mean duration of its calls. */
  avgExecutionTime: 0.5,
  /** Share of successes among its runs after a failure: of an earlier call, or of the session's previous run. */
  errorRecoveryRate: 0.5,
  /** s / (s + 3), s the mean number of steps from its first call to the end of a successful run, 1 if it is last. */
  avgPathLengthToSuccess: 0.5,
  /** v / (v + 9), v the variance of those steps. */
  pathVariance: 0,
  /** `errorRecoveryRate` for each kind of failure separately. */
  'errorTypeAffinity.TIMEOUT': 0.5,
  'errorTypeAffinity.PERMISSION': 0.5,
  'errorTypeAffinity.NOT_FOUND': 0.5,
  'errorTypeAffinity.VALIDATION': 0.5,
  'errorTypeAffinity.NETWORK': 0.5,
  'errorTypeAffinity.UNKNOWN': 0.5,
} satisfies Record<`errorTypeAffinity.${ErrorType}`, number> & Record<string, number>;

type Statistic = keyof typeof COLD_START;

/** Their names, in the order of the vector. */
export const TRACE_STATISTICS = Object.keys(COLD_START) as readonly Statistic[];

const AT = Object.fromEntries(TRACE_STATISTICS.map((name, i) => [name, i])) as Record<Statistic, number>;

/** The situation for which statistics are computed. */
export interface StatisticsQuery {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The nodes used just before. */
  readonly context?: readonly NodeId[];
  /** From `similarRuns`, computed once for all candidates. */
  readonly similar?: readonly IntentRun[];
}

/**
 * The 17 trace statistics of tools, capabilities and operations, from sums to which every run is added once,
 * in order of execution. Memory grows with the nodes and pairs of nodes seen, not with the runs.
 */
export class TraceStatistics {
  readonly #tallies = new Map<NodeId, NodeTally>();
  readonly #sessions = new SessionEnds();
  readonly #intents = new IntentMemory();
  #mostRuns = 0;

  /** Returns the nodes whose sums have changed. */
  add(trace: ExecutionTrace): ReadonlySet<NodeId> {
    const { length, nodes } = nodeRuns(trace);
    const before = this.#sessions.before(trace);
    const run = { at: trace.executedAt.getTime(), success: trace.success, length };
    for (const node of nodes) {
      const tally = this.#tallyOf(node.node);
      const errorsBefore = new Set(node.errorsBefore);
      if (before.error) errorsBefore.add(before.error);
      tally.add(node, { ...run, errorsBefore });
      this.#mostRuns = Math.max(this.#mostRuns, tally.runs.tried);
    }
    this.#pair(nodes.slice(0, DEFAULTS.pairedNodes), before.context);
    const used = nodes.map(({ node }) => node);
    this.#sessions.add(trace, used);
    const touched = new Set(used);
    if (trace.intentEmbedding && trace.embeddingModel !== null) {
      const intent = { model: trace.embeddingModel, vector: trace.intentEmbedding };
      this.#intents.add(intent, { nodes: touched, success: trace.success });
    }
    return touched;
  }

  /** Whether a node has enough runs for more than the cold-start values. */
  knows(node: NodeId): boolean {
    return this.#known(node) !== undefined;
  }

  similarRuns(intent: EmbeddedIntent): IntentRun[] {
    return this.#intents.similarTo(intent);
  }

  /** [17] */
  vector(node: NodeId, query: StatisticsQuery): Float32Array {
    return this.complete(this.lasting(node), node, query);
  }

  /** [17], with cold-start values where the query or other nodes matter: only runs of the node change it. */
  lasting(node: NodeId): Float32Array {
    const vector = Float32Array.from(Object.values(COLD_START));
    const tally = this.#known(node);
    if (!tally) return vector;
    const { runs, timed, stepsToSuccess: steps } = tally;
    vector[AT.historicalSuccessRate] = rateOf(runs);
    vector[AT.sequencePosition] = tally.positions / runs.tried;
    vector[AT.errorRecoveryRate] = rateOf(tally.afterFailure);
    for (const type of ERROR_TYPES) vector[AT[`errorTypeAffinity.${type}`]] = rateOf(tally.afterError[type]);
    if (timed.calls > 0) {
      const slowness = Math.log1p(timed.durationMs / timed.calls) / Math.log1p(DEFAULTS.slowestMs);
      vector[AT.avgExecutionTime] = Math.min(1, slowness);
    }
    if (steps.runs > 0) {
      const mean = steps.sum / steps.runs;
      const variance = steps.squares / steps.runs - mean ** 2;
      vector[AT.avgPathLengthToSuccess] = mean / (mean + DEFAULTS.usualSteps);
      vector[AT.pathVariance] = Math.max(0, variance / (variance + DEFAULTS.usualSteps ** 2));
    }
    return vector;
  }

  /** Fills in the values that depend on the query and on other nodes, in place. */
  complete(vector: Float32Array, node: NodeId, { now, context = [], similar = [] }: StatisticsQuery) {
    const alike = similar.filter(({ nodes }) => nodes.has(node));
    const succeeded = alike.filter(({ success }) => success).length;
    vector[AT.intentSimilarSuccessRate] = rateOf({ tried: alike.length, succeeded });
    const tally = this.#known(node);
    if (!tally) return vector;
    vector[AT.recencyScore] = Math.min(1, Math.exp((tally.lastUsedAt - now) / DEFAULTS.recencyMs));
    vector[AT.usageFrequency] = tally.runs.tried / this.#mostRuns;
    if (context.length === 0) return vector;
    const after: Rate = { tried: 0, succeeded: 0 };
    let together = 0;
    for (const other of context) {
      const companion = tally.companions.get(other);
      if (!companion) continue;
      together += companion.together;
      after.tried += companion.after.tried;
      after.succeeded += companion.after.succeeded;
    }
    vector[AT.contextualSuccessRate] = rateOf(after);
    vector[AT.cooccurrenceWithContext] = together / (tally.runs.tried * context.length);
    return vector;
  }

  #pair(nodes: readonly NodeRun[], context: readonly NodeId[]): void {
    const earlier = new Set(context);
    for (const [i, { node, success, calls }] of nodes.entries()) {
      const tally = this.#tallyOf(node);
      for (const other of earlier) tally.meet(other, true, success);
      for (const [j, other] of nodes.entries()) {
        if (earlier.has(other.node)) continue;
        // A node precedes itself if it was called again.
        if (j !== i || calls > 1) tally.meet(other.node, j <= i, success);
      }
    }
  }

  #tallyOf(node: NodeId): NodeTally {
    let tally = this.#tallies.get(node);
    if (!tally) {
      tally = new NodeTally();
      this.#tallies.set(node, tally);
    }
    return tally;
  }

  #known(node: NodeId): NodeTally | undefined {
    const tally = this.#tallies.get(node);
    return tally && tally.runs.tried >= DEFAULTS.minimumRuns ? tally : undefined;
  }
}

/** The 17 by name, as programs read them: `historical_success_rate`, `error_type_affinity.TIMEOUT`. */
export function namedStatistics(vector: Float32Array): Readonly<Record<string, number>> {
  const snake = (name: string) => name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(TRACE_STATISTICS.map((name, i) => [snake(name), vector[i]!]));
}

function rateOf({ tried, succeeded }: Rate): number {
  return tried === 0 ? 0.5 : succeeded / tried;
}

export interface CacheFigures {
  readonly hits: number;
  readonly misses: number;
  /** hits / (hits + misses); 0 before the first query. */
  readonly hitRate: number;
}

/**
 * Caches, for the most recently used nodes, the part of their statistics that only their own runs change.
 * A run of a node drops its entry; the part that depends on the query is recomputed each time.
 */
export class CachedStatistics {
  readonly #statistics: TraceStatistics;
  readonly #entries: number;
  /** Least recently used first. */
  readonly #kept = new Map<NodeId, Float32Array>();
  #hits = 0;
  #misses = 0;

  constructor(statistics: TraceStatistics, entries = DEFAULTS.entries) {
    this.#statistics = statistics;
    this.#entries = entries;
  }

  get figures(): CacheFigures {
    const [hits, misses] = [this.#hits, this.#misses];
    return { hits, misses, hitRate: hits / Math.max(1, hits + misses) };
  }

  add(trace: ExecutionTrace): ReadonlySet<NodeId> {
    const touched = this.#statistics.add(trace);
    for (const node of touched) this.#kept.delete(node);
    return touched;
  }

  /** [17], a copy that the caller may change. */
  vector(node: NodeId, query: StatisticsQuery): Float32Array {
    return this.#statistics.complete(this.#lasting(node).slice(), node, query);
  }

  #lasting(node: NodeId): Float32Array {
    const known = this.#kept.get(node);
    if (known) this.#hits++;
    else this.#misses++;
    const lasting = known ?? this.#statistics.lasting(node);
    this.#kept.delete(node);
    this.#kept.set(node, lasting);
    if (this.#kept.size > this.#entries) this.#kept.delete(this.#kept.keys().next().value!);
    return lasting;
  }
}

/** Number of attempts and of successes. */
interface Rate {
  tried: number;
  succeeded: number;
}

/** How a node relates to another that was used with it or before it. */
interface Companion {
  /** Runs of the node in which the other was used too, or shortly before in the same session. */
  together: number;
  /** Runs among these in which the other came first, with the node's successes. */
  readonly after: Rate;
}

/** A run in which a node was used. */
interface RunAround {
  readonly at: number;
  readonly success: boolean;
  /** Length of the executed path. */
  readonly length: number;
  /** Kinds of failures before the node's last call, in this run or the session's previous run. */
  readonly errorsBefore: ReadonlySet<ErrorType>;
}

/** Sums over all runs of one node. Only sums, so that queries in between do not matter. */
class NodeTally {
  readonly runs: Rate = { tried: 0, succeeded: 0 };
  /** Calls with a known duration, and their total duration. */
  readonly timed = { calls: 0, durationMs: 0 };
  /** Sum of first / (length - 1). */
  positions = 0;
  /** Milliseconds since 1970. */
  lastUsedAt = Number.NEGATIVE_INFINITY;
  readonly afterFailure: Rate = { tried: 0, succeeded: 0 };
  readonly afterError: Readonly<Record<ErrorType, Rate>> = rateByError();
  /** Over runs that succeeded: steps from the node's first call to the end, itself included. */
  readonly stepsToSuccess = { runs: 0, sum: 0, squares: 0 };
  readonly companions = new Map<NodeId, Companion>();

  add({ first, calls, success, durationMs }: NodeRun, around: RunAround): void {
    count(this.runs, success);
    this.positions += around.length > 1 ? first / (around.length - 1) : 0.5;
    this.lastUsedAt = Math.max(this.lastUsedAt, around.at);
    if (durationMs !== null) {
      this.timed.calls += calls;
      this.timed.durationMs += durationMs;
    }
    if (around.errorsBefore.size > 0) count(this.afterFailure, success);
    for (const type of around.errorsBefore) count(this.afterError[type], success);
    if (around.success) {
      const steps = around.length - first;
      this.stepsToSuccess.runs++;
      this.stepsToSuccess.sum += steps;
      this.stepsToSuccess.squares += steps * steps;
    }
  }

  meet(other: NodeId, isBefore: boolean, success: boolean): void {
    let companion = this.companions.get(other);
    if (!companion) {
      companion = { together: 0, after: { tried: 0, succeeded: 0 } };
      this.companions.set(other, companion);
    }
    companion.together++;
    if (isBefore) count(companion.after, success);
  }
}

function count(rate: Rate, success: boolean): void {
  rate.tried++;
  if (success) rate.succeeded++;
}

function rateByError(): Record<ErrorType, Rate> {
  return Object.fromEntries(ERROR_TYPES.map((type) => [type, { tried: 0, succeeded: 0 }])) as Record<
    ErrorType,
    Rate
  >;
}
