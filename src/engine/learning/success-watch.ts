import { ReplayBuffer } from '../../core/learning/optim/replay-buffer.ts';
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
import { type ExecutionTrace, isEvidence } from '../../core/vocabulary/execution-trace.ts';
import type { NodeId } from '../../core/vocabulary/ids.ts';

const DEFAULTS = {
  seed: 1,
  /** Steps of runs that are replayed. */
  replay: 5_000,
  /** Nodes used just before that count as context. */
  context: 5,
  /** Runs that the figures speak of, the newest. */
  window: 100,
  /** Points of the course of the TD error, the newest. */
  course: 200,
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

/** Steps of past runs, and how unevenly they are learned from: what was foretold badly is replayed more often. */
export interface ReplayFigures {
  readonly steps: number;
  /** Ever, including those that were removed since. */
  readonly seen: number;
  /** Steps drawn up to so many times as often as the mean; null: more often than that. */
  readonly shares: readonly { readonly upTo: number | null; readonly steps: number }[];
  /** The most, as a multiple of the mean; null before there is any. */
  readonly most: number | null;
}

/** How runs end, and how well that could be foretold from what was known before them. */
export interface SuccessWatch {
  add(trace: ExecutionTrace): void;
  /** The 17 trace statistics of a node by name; null while too few runs have used it. */
  statisticsOf(node: NodeId, now: number): Readonly<Record<string, number>> | null;
  figures(): SuccessFigures;
  /** The mean |TD error| after each of the newest runs, oldest first. */
  tdErrors(): readonly number[];
  replay(): ReplayFigures;
}

export function createSuccessWatch(): SuccessWatch {
  const random = createRandom(DEFAULTS.seed);
  const sums = new TraceStatistics();
  const statistics = new CachedStatistics(sums);
  const head = new SuccessHead(TRACE_STATISTICS.length, random);
  const buffer = new ReplayBuffer<SuccessExample>({ random, capacity: DEFAULTS.replay });
  const window = new TdErrorWindow();
  const course: number[] = [];
  const recent: { readonly success: boolean; readonly length: number }[] = [];

  return {
    add(trace) {
      if (!isEvidence(trace)) return;
      const path = trace.executedPath;
      // Before the trace is counted: a run must not foretell itself.
      for (const [i, node] of path.entries()) {
        const context = path.slice(Math.max(0, i - DEFAULTS.context), i);
        const features = statistics.vector(node, { now: trace.executedAt.getTime(), context });
        buffer.add({ features, success: trace.success, stepsLeft: path.length - 1 - i });
      }
      statistics.add(trace);
      for (const _ of trainSuccessHead(head, buffer, { steps: 1, window }));
      const error = window.meanAbsoluteTdError;
      if (error !== null) course.push(error);
      if (course.length > DEFAULTS.course) course.shift();
      recent.push({ success: trace.success, length: path.length });
      if (recent.length > DEFAULTS.window) recent.shift();
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
