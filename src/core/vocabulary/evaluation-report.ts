/** How well the tools that a task needs stand in a ranking; each in [0, 1]. */
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

/** What is reached with so many past runs. */
export interface CurvePoint {
  readonly traces: number;
  readonly semantic_mrr: number;
  readonly hybrid_mrr: number;
  readonly learned_mrr: number;
  /** Of the learned MRR. */
  readonly over_semantic: Gain;
  readonly over_hybrid: Gain;
}

export const PROTOCOLS = ['id', 'disjoint', 'cv5', 'narrow', 'new-tools'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** How what was learned behaves where it knows nothing. Numbers of plans, but for MRRs. */
export interface CautionFigures {
  /** Those that hold any tool. */
  readonly plans: number;
  /** Node F1 below .5, confidence above. */
  readonly wrong_above_half: number;
  /** By confidence and support, as if every tool were read-only. */
  readonly would_run: number;
  /** Tools of the longest. */
  readonly longest_plan: number;
  /** Of intents that read like past work and mean something else; `n` of them. Null where they are not measured. */
  readonly opposites: {
    readonly n: number;
    readonly wrong_above_half: number;
    readonly would_run: number;
  } | null;
  /** Of `n` tasks with right tools that no past run used: the MRR of the first of these. */
  readonly never_used: {
    readonly n: number;
    readonly learned_mrr: number;
    readonly hybrid_mrr: number;
  };
}

/** What `pml eval` prints; `null` stands for what a data set cannot tell or this version does not do. */
export interface EvaluationReport {
  readonly dataset: string;
  readonly split: string;
  readonly protocol: Protocol;
  readonly seed: number;
  /** Tasks learned from, on average over folds. */
  readonly train: number;
  /** Tasks measured, once in each fold that measures them. */
  readonly n: number;
  /** Of these, tasks whose very words were learned from. */
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
    /** Expected calibration error of the confidence, which foretells node F1. */
    readonly ece: number;
  } | null;
  /** Of `narrow` and `new-tools` only. */
  readonly caution: CautionFigures | null;
  readonly gate: (Gain & { readonly open: boolean }) | null;
  readonly curve: readonly CurvePoint[] | null;
  readonly seconds: number;
}
