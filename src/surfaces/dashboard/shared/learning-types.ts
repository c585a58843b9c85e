/** What one part of the model did for the tools that were right, in units of its score. */
export interface PartInsight {
  /** A feature, or `head_1` and on. */
  readonly name: string;
  readonly moved: number;
  readonly importance: number;
  readonly examples: readonly { readonly node: string; readonly intent: string; readonly moved: number }[];
}

/** `/api/learning/insight` */
export interface LearningInsight {
  /** Oldest first; nDCG@10 of what was learned and of search, and the interval of the difference. */
  readonly trainings: readonly {
    readonly trained_at: string;
    readonly runs: number;
    readonly judged: number;
    readonly learned: number | null;
    readonly hybrid: number | null;
    readonly ci95: readonly [number, number];
  }[];
  readonly model: {
    readonly runs: number;
    readonly features: readonly PartInsight[];
    readonly heads: readonly PartInsight[];
  } | null;
  /** Oldest first. */
  readonly td_errors: readonly number[];
  readonly replay: {
    readonly steps: number;
    readonly seen: number;
    /** Steps that are drawn up to so many times as often as the mean; null: more often. */
    readonly shares: readonly { readonly up_to: number | null; readonly steps: number }[];
    readonly most: number | null;
  };
}
