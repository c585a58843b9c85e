import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import type { Candidates } from './candidates.ts';

/** A block of trainable numbers, as the optimiser and the parameter file see it. */
export interface Parameter {
  /** Unique in its model. */
  readonly name: string;
  readonly values: Floats;
  /** dLoss/dValues, accumulated by `backward`. */
  readonly slopes: Floats;
  /** Multiplier of the learning rate. */
  readonly pace: number;
  /** Weight decay pulls the values towards this; absent: no decay. */
  readonly anchor?: Floats;
}

/** One query over all candidates. */
export interface RankExample {
  /** [candidates x WIDTH] from `rankFeatures`. */
  readonly features: Float32Array;
  /** Unit vector. */
  readonly intent: Float32Array;
  /** Candidates used just before, latest last. */
  readonly context?: readonly number[];
  /** By candidate: the past intents that it succeeded for, nearest first, without those of the query's own run. */
  readonly pastIntents?: ReadonlyMap<number, readonly Float32Array[]>;
  /**
   * The hypergraph: sets of candidates that belong together, such as a capability with everything it reaches, or
   * the tools of a past run. All examples of a batch share the list.
   */
  readonly edges?: readonly (readonly number[])[];
  /** Indices in `edges` that this query must not see: its own run, and runs of the same work. */
  readonly hiddenEdges?: readonly number[];
}

/** What terms know about the candidates; without `tools`, all of them are tools. */
export type RankedCandidates = Pick<Candidates, 'size' | 'vectors'> & Partial<Pick<Candidates, 'tools'>>;

export interface RankBatch {
  readonly candidates: RankedCandidates;
  readonly examples: readonly RankExample[];
  /** Set while training: decides which units are dropped out. */
  readonly random?: Random;
}

export interface RankReason {
  readonly name: string;
  readonly moved: number;
}

/**
 * One summand of the logits. Every term except the first starts at zero, so that any model starts with the ranking
 * of search (residual learning, He et al., 2016).
 */
export interface RankTerm {
  readonly parameters: readonly Parameter[];
  /** Reads past intents and the tools of runs, not only features of them. */
  readonly wantsPast?: boolean;
  /** Precomputes what is the same for every query over these candidates, until the next training step. */
  prepare?(candidates: RankBatch['candidates']): void;
  /** Scales back what was learned: 1 keeps all of it, 0 nothing. */
  temper?(trust: number): void;
  /** The contributions to one candidate's logit. */
  explain?(batch: RankBatch, place: number): readonly RankReason[];
  /** Adds the term's part to the logits of each example, [candidates] each. */
  forward(batch: RankBatch, logits: readonly Floats[]): void;
  /** After `forward` on the same batch: adds the slopes of its parameters, given dLoss/dLogits. */
  backward(batch: RankBatch, slopes: readonly Floats[]): void;
}

export function createParameter(
  multiplier: Multiplier<Floats>,
  name: string,
  start: ArrayLike<number>,
  { pace = 1, isHeld = false }: { pace?: number; isHeld?: boolean } = {},
): Parameter {
  const values = multiplier.floats(start.length);
  values.set(start);
  return {
    name,
    values,
    slopes: multiplier.floats(start.length),
    pace,
    ...(isHeld && { anchor: values.slice() }),
  };
}
