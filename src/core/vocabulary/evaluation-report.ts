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

/** A mean paired difference, and its 95 % interval over tasks drawn anew. */
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

export const PROTOCOLS = ['id', 'disjoint', 'cv5'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** What `pml eval` prints; `null` stands for what a data set cannot tell or this version does not do. */
export interface EvaluationReport {
  readonly dataset: string;
  readonly split: string;
  readonly protocol: Protocol;
  /** Tasks measured. */
  readonly n: number;
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
  readonly gate: (Gain & { readonly open: boolean }) | null;
  readonly curve: readonly CurvePoint[] | null;
  readonly seconds: number;
}
