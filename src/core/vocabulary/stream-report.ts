/** First and last run of each window of a stream; null: the last run of all. */
export const STREAM_WINDOWS = [
  [1, 10],
  [11, 30],
  [31, 60],
  [61, 120],
  [121, null],
] as const;

/** Figures over the runs of a window whose job was run before, in any words; null if there are none. */
export interface StreamWindow {
  readonly from: number;
  readonly to: number;
  readonly n: number;
  /** MRR of the served search, and of the text scores alone. */
  readonly mrr: number | null;
  readonly hybrid_mrr: number | null;
  /** F1 of the tools of the suggested plan, and of the past run with the most words in common. */
  readonly plan_f1: number | null;
  readonly copying_f1: number | null;
  /** F1 of the tools of the first capability found; 0 if none is found. */
  readonly routine_f1: number | null;
  /** Number of runs that it is a mean of. */
  readonly routines: number;
  /** Null if the data set has no arguments. */
  readonly arguments_right: number | null;
  /** Whether the learned ranker served at the end of the window. */
  readonly gate_open: boolean;
}

/** What `pml eval --protocol stream` prints. */
export interface StreamReport {
  readonly dataset: string;
  readonly protocol: 'stream';
  readonly seed: number;
  /** Milliseconds between runs; null: waits until everything is learned. */
  readonly pause_ms: number | null;
  readonly jobs: number;
  /** Number of runs. */
  readonly n: number;
  readonly tools: number;
  readonly embedding: string;
  readonly windows: readonly StreamWindow[];
  readonly seconds: number;
}
