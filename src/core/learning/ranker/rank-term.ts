import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import type { Candidates } from './candidates.ts';

/** A block of trainable numbers; the optimiser and the file of parameters need to know no more of it. */
export interface Parameter {
  /** Unique in its model. */
  readonly name: string;
  readonly values: Floats;
  /** dLoss/dValues, summed up by `backward`. */
  readonly slopes: Floats;
  /** Its share of the learning rate. */
  readonly pace: number;
  /** What it is held to by weight decay; absent: it is not held. */
  readonly anchor?: Floats;
}

/** One query over all candidates. */
export interface RankExample {
  /** [candidates x WIDTH] as `rankFeatures` gives them. */
  readonly features: Float32Array;
  /** Unit vector. */
  readonly intent: Float32Array;
  /** Candidates used just before, latest last. */
  readonly context?: readonly number[];
  /** Of a candidate: the past intents that it succeeded for, nearest first. Those of the query's own run are hidden. */
  readonly pastIntents?: ReadonlyMap<number, readonly Float32Array[]>;
  /**
   * The hypergraph: sets of candidates that belong together, such as a capability with all that it reaches,
   * capabilities among it, or what a past run used. One list for all examples of a batch.
   */
  readonly edges?: readonly (readonly number[])[];
  /** Places in `edges` that this query may not see: its own run, and those like it. */
  readonly hiddenEdges?: readonly number[];
}

/** What terms know of the candidates; where it is not said how many are tools, all are. */
export type RankedCandidates = Pick<Candidates, 'size' | 'vectors'> & Partial<Pick<Candidates, 'tools'>>;

export interface RankBatch {
  readonly candidates: RankedCandidates;
  readonly examples: readonly RankExample[];
  /** Given while training: decides what is dropped out. */
  readonly random?: Random;
}

export interface RankReason {
  readonly name: string;
  readonly moved: number;
}

/**
 * One summand of the logits. Every term but the first starts at zero, so a model of any terms starts as
 * search ranks (residual learning, He et al., 2016).
 */
export interface RankTerm {
  readonly parameters: readonly Parameter[];
  /** Looks at past intents and at what runs used, not only at features of them. */
  readonly wantsPast?: boolean;
  /** Does beforehand what is the same for every query over these candidates, until the next training step. */
  prepare?(candidates: RankBatch['candidates']): void;
  /** Takes back part of what was learned: 1 leaves all of it, 0 nothing. */
  temper?(trust: number): void;
  /** What moved one candidate, and by how much of its logit. */
  explain?(batch: RankBatch, place: number): readonly RankReason[];
  /** Adds its part to the logits of each example, [candidates] each. */
  forward(batch: RankBatch, logits: readonly Floats[]): void;
  /** After `forward` on the same batch: from dLoss/dLogits to the slopes of its parameters. */
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
