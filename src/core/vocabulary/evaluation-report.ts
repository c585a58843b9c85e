/** How high a ranking places the tools that a task needs; each figure in [0, 1]. */
export interface RankingFigures {
  /** Mean of 1 / rank of the first correct tool. */
  readonly mrr: number;
  /** Share of tasks with a correct tool in first place, and among the first three. */
  readonly hit1: number;
  readonly hit3: number;
  /** Mean share of a task's tools among the first five. */
  readonly recall5: number;
  /** Normalised discounted cumulative gain of all of a task's tools, over the first ten. */
  readonly ndcg10: number;
}

export interface NextFigures {
  readonly hit1: number;
  readonly hit3: number;
  readonly mrr: number;
}

/** A mean paired difference, and its 95 % interval over resampled groups of tasks. */
export interface Gain {
  readonly gain: number;
  readonly ci95: readonly [number, number];
}

export interface RankingGain {
  readonly mrr: Gain;
  readonly ndcg10: Gain;
}

/** Quality after learning from the first `traces` runs. */
export interface CurvePoint {
  readonly traces: number;
  readonly semantic_mrr: number;
  readonly hybrid_mrr: number;
  readonly learned_mrr: number;
  /** Gain of the learned MRR over this baseline. */
  readonly over_semantic: Gain;
  readonly over_hybrid: Gain;
}

export const PROTOCOLS = ['id', 'disjoint', 'cv5', 'narrow', 'new-tools'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** How the learned model behaves on intents it knows nothing about. All are numbers of plans, except the MRRs. */
export interface CautionFigures {
  /** Plans with at least one tool. */
  readonly plans: number;
  /** Plans with node F1 below .5 and confidence above .5. */
  readonly wrong_above_half: number;
  /** Plans with enough confidence and support to run by themselves, if every tool were read-only. */
  readonly would_run: number;
  /** Number of tools in the longest plan. */
  readonly longest_plan: number;
  /** The same for `n` intents that read like past work and mean something else. Null if not measured. */
  readonly opposites: {
    readonly n: number;
    readonly wrong_above_half: number;
    readonly would_run: number;
  } | null;
  /** MRR of the first correct tool that no past run used, over the `n` tasks that have one. */
  readonly never_used: {
    readonly n: number;
    readonly learned_mrr: number;
    readonly hybrid_mrr: number;
  };
}

/** What `pml eval` prints; `null` means that the data set has no such data, or that this version lacks the feature. */
export interface EvaluationReport {
  readonly dataset: string;
  readonly split: string;
  readonly protocol: Protocol;
  readonly seed: number;
  /** Tasks learned from, on average over folds. */
  readonly train: number;
  /** Tasks measured, once in each fold that measures them. */
  readonly n: number;
  /** How many of the `n` tasks have exactly the words of a training task. */
  readonly overlap: number;
  /** Tools ranked, distractors included. */
  readonly tools: number;
  /** The model whose vectors were used. */
  readonly embedding: string;
  readonly ranking: Readonly<
    Record<'lexical' | 'semantic' | 'hybrid' | 'knn' | 'logistic' | 'learned', RankingFigures | null>
  >;
  /** How much better the learned ranker is on the same tasks. */
  readonly gains: Readonly<Record<'over_semantic' | 'over_hybrid' | 'over_logistic', RankingGain>>;
  readonly next: Readonly<
    Record<'popularity' | 'markov' | 'logistic' | 'learned', NextFigures | null>
  > | null;
  readonly plan: {
    readonly node_f1: number;
    readonly edge_f1: number;
    readonly exact: number;
    /** Expected calibration error of the confidence, which predicts node F1. */
    readonly ece: number;
  } | null;
  /** Measured by the protocols `narrow` and `new-tools` only. */
  readonly caution: CautionFigures | null;
  readonly gate: (Gain & { readonly open: boolean }) | null;
  readonly curve: readonly CurvePoint[] | null;
  readonly seconds: number;
}
