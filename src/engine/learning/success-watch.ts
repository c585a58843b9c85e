import { ReplayBuffer } from '../../core/learning/optim/replay-buffer.ts';
import { RUN_SIGNALS, RunMemory } from '../../core/learning/success/run-signals.ts';
import {
  type SuccessExample,
  SuccessHead,
  TdErrorWindow,
  trainSuccessHead,
} from '../../core/learning/success/success-head.ts';
import {
  CachedStatistics,
  type CacheFigures,
  namedStatistics,
  TRACE_STATISTICS,
  TraceStatistics,
} from '../../core/learning/success/trace-statistics.ts';
import { createRandom } from '../../core/numeric/random.ts';
import { callSpans } from '../../core/tracing/derive-trace.ts';
import { isStep } from '../../core/tracing/jobs.ts';
import { type ExecutionTrace, isEvidence } from '../../core/vocabulary/execution-trace.ts';
import { kindOf, type NodeId } from '../../core/vocabulary/ids.ts';
import type { TraceEvent } from '../../core/vocabulary/trace-event.ts';

const DEFAULTS = {
  seed: 1,
  /** Steps of runs that are replayed, and batches that are learned with each run. */
  replay: 5_000,
  batches: 10,
  /** Nodes used just before that count as context. */
  context: 5,
  /** Runs that the figures speak of, the newest. */
  window: 100,
  /** Points of the course of the TD error, the newest. */
  course: 200,
  /** Runs of each outcome before a chance of failure is told, and those it is judged by, the newest. */
  leastRuns: 15,
  judged: 200,
  /** The least chance of failure that is worth a word. */
  warning: 0.6,
  /** Upper ends of the shares that are counted, as multiples of the mean; the last one has none. */
  shares: [0.5, 1, 2, 4],
};

export interface SuccessFigures {
  /** Of the newest runs; null before there is any. */
  readonly successRate: number | null;
  readonly meanPathLength: number | null;
  readonly meanAbsoluteTdError: number | null;
  readonly statisticsCache: CacheFigures;
}

/** Steps of past runs, and how unevenly they are learned from: what was predicted badly is replayed more often. */
export interface ReplayFigures {
  readonly steps: number;
  /** Ever, including those that were removed since. */
  readonly seen: number;
  /** Steps drawn up to so many times as often as the mean; null: more often than that. */
  readonly shares: readonly { readonly upTo: number | null; readonly steps: number }[];
  /** The most, as a multiple of the mean; null before there is any. */
  readonly most: number | null;
}

/** What past runs say of one under way. */
export interface RunRisk {
  /** That it fails, after the calls so far. */
  readonly chance: number;
  readonly calls: number;
  /** Runs that this rests on. */
  readonly failed: number;
  readonly succeeded: number;
  /** What most successful runs called after the latest call; null where few did. */
  readonly usual: { readonly after: NodeId; readonly node: NodeId; readonly runs: number } | null;
}

/** Parts that can be left out, to see what they are worth. */
export interface SuccessParts {
  /** What the run itself shows, call by call. */
  readonly signals?: boolean;
  /** The 17 trace statistics of what is called. */
  readonly statistics?: boolean;
  /** A success counts less the further it is away. */
  readonly discount?: boolean;
  /** What was predicted badly is replayed more often. */
  readonly priorities?: boolean;
}

/** How runs end, and how well that could be predicted, call by call. */
export interface SuccessWatch {
  /** A run, or one call of a job, which is a run once the job is over. */
  add(trace: ExecutionTrace): void;
  addJob(job: Pick<ExecutionTrace, 'events' | 'executedAt' | 'visibility' | 'success'>): void;
  /** The chance of failure after each call of a run. */
  predict(events: readonly TraceEvent[], now: number): number[];
  /** The same after the latest call; null while it is not shown to predict anything. */
  risk(events: readonly TraceEvent[], now: number): RunRisk | null;
  /** The 17 trace statistics of a node by name; null while too few runs have used it. */
  statisticsOf(node: NodeId, now: number): Readonly<Record<string, number>> | null;
  figures(): SuccessFigures;
  /** The mean |TD error| after each of the newest runs, oldest first. */
  tdErrors(): readonly number[];
  replay(): ReplayFigures;
}

export function createSuccessWatch(parts: SuccessParts = {}): SuccessWatch {
  const { signals = true, statistics: withStatistics = true, discount = true, priorities = true } = parts;
  const random = createRandom(DEFAULTS.seed);
  const sums = new TraceStatistics();
  const statistics = new CachedStatistics(sums);
  const memory = new RunMemory();
  const inputs = (signals ? RUN_SIGNALS.length : 0) + (withStatistics ? TRACE_STATISTICS.length : 0);
  const head = new SuccessHead(inputs, random);
  const buffer = new ReplayBuffer<SuccessExample>({
    random,
    capacity: DEFAULTS.replay,
    ...(!priorities && { alpha: 0 }),
  });
  const window = new TdErrorWindow();
  const course: number[] = [];
  const recent: { readonly success: boolean; readonly length: number }[] = [];
  /** What was predicted of the newest runs before they were learned, as the mean over their calls. */
  const judged: { readonly chance: number; readonly success: boolean }[] = [];

  /** One row per call: what the run shows after it, and what is known of what it calls. */
  function featuresOf(events: readonly TraceEvent[], now: number): ArrayLike<number>[] {
    const shown = memory.signals(events);
    return shown.map(({ node, values }, i) => {
      if (!withStatistics) return values;
      const context = shown.slice(Math.max(0, i - DEFAULTS.context), i).map((earlier) => earlier.node);
      const known = statistics.vector(node, { now, context });
      return signals ? Float32Array.from([...values, ...known]) : known;
    });
  }
  const predict = (events: readonly TraceEvent[], now: number) =>
    featuresOf(events, now).map((features) => 1 - head.predict(features));

  function learn(events: readonly TraceEvent[], success: boolean, now: number): void {
    // Before the run is counted: it must not predict itself.
    const rows = featuresOf(events, now);
    if (rows.length === 0) return;
    const chance = rows.reduce((sum, row) => sum + 1 - head.predict(row), 0) / rows.length;
    judged.push({ chance, success });
    if (judged.length > DEFAULTS.judged) judged.shift();
    for (const [i, features] of rows.entries())
      buffer.add({ features, success, stepsLeft: discount ? rows.length - 1 - i : 0 });
    memory.add(events, success);
    for (const _ of trainSuccessHead(head, buffer, { steps: DEFAULTS.batches, window }));
    const error = window.meanAbsoluteTdError;
    if (error !== null) course.push(error);
    if (course.length > DEFAULTS.course) course.shift();
  }

  return {
    add(trace) {
      if (!isEvidence(trace)) return;
      // Whom a private run belongs to alone may hear of it, and what is told here is told to all.
      if (trace.visibility === 'shared' && !isStep(trace))
        learn(trace.events, trace.success, trace.executedAt.getTime());
      statistics.add(trace);
      recent.push({ success: trace.success, length: trace.executedPath.length });
      if (recent.length > DEFAULTS.window) recent.shift();
    },

    addJob({ events, executedAt, visibility, success }) {
      if (visibility === 'shared') learn(events, success, executedAt.getTime());
    },

    predict,

    risk(events, now) {
      const { failed, succeeded } = memory.runs;
      if (Math.min(failed, succeeded) < DEFAULTS.leastRuns || !isShown(judged)) return null;
      const last = callSpans(events).at(-1)?.start.node;
      const chances = predict(events, now);
      const chance = chances.at(-1);
      if (chance === undefined || last === undefined || chance < DEFAULTS.warning) return null;
      const usual = memory.usualAfter(last);
      return {
        chance,
        calls: chances.length,
        failed,
        succeeded,
        usual:
          usual && kindOf(usual.node) === 'tool' ? { after: last, node: usual.node, runs: usual.runs } : null,
      };
    },

    statisticsOf: (node, now) => (sums.knows(node) ? namedStatistics(sums.vector(node, { now })) : null),

    figures: () => ({
      successRate: meanOf(recent.map(({ success }) => Number(success))),
      meanPathLength: meanOf(recent.map(({ length }) => length)),
      meanAbsoluteTdError: window.meanAbsoluteTdError,
      statisticsCache: statistics.figures,
    }),

    tdErrors: () => [...course],

    replay() {
      const draws = buffer.items.map((_, i) => buffer.probability(i) * buffer.size);
      const ends = [...DEFAULTS.shares, Number.POSITIVE_INFINITY];
      return {
        steps: buffer.size,
        seen: buffer.seen,
        shares: ends.map((end, i) => ({
          upTo: Number.isFinite(end) ? end : null,
          steps: draws.filter((draw) => draw <= end && draw > (ends[i - 1] ?? 0)).length,
        })),
        most: draws.length === 0 ? null : draws.reduce((most, draw) => Math.max(most, draw)),
      };
    },
  };
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Whether what was predicted separates runs that failed from others: the lower end of the 95 % interval of the area under
 * the ROC curve is above one half (Hanley and McNeil, "The meaning and use of the area under a receiver operating
 * characteristic (ROC) curve", 1982).
 */
function isShown(judged: readonly { readonly chance: number; readonly success: boolean }[]): boolean {
  const [good, bad] = [judged.filter(({ success }) => success), judged.filter(({ success }) => !success)];
  if (good.length === 0 || bad.length === 0) return false;
  let above = 0;
  for (const { chance } of bad)
    for (const other of good) above += chance > other.chance ? 1 : chance === other.chance ? 0.5 : 0;
  const area = above / (good.length * bad.length);
  const [q1, q2] = [area / (2 - area), (2 * area ** 2) / (1 + area)];
  const variance =
    (area * (1 - area) + (bad.length - 1) * (q1 - area ** 2) + (good.length - 1) * (q2 - area ** 2)) /
    (good.length * bad.length);
  return area - 1.96 * Math.sqrt(Math.max(0, variance)) > 0.5;
}
