import type { Floats, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { headsOf } from '../terms/bilinear-term.ts';
import { createTerms, type TermName, type TermOptions } from './create-terms.ts';
import { type ModelChoice, OPTIONAL_TERMS } from './model-choice.ts';
import { loadParams } from './params-file.ts';
import type { Parameter, RankBatch, RankTerm } from './rank-term.ts';

const DEFAULTS = {
  /** The terms that serve. The others were measured to add nothing, or to do harm: `npm run ablate`. */
  terms: ['fusion', 'bilinear'] as readonly TermName[],
};

/** The ranker: the sum of the logits of all its terms. */
export class RankModel {
  readonly terms: readonly RankTerm[];
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;

  constructor(multiplier: Multiplier<Floats>, terms: readonly RankTerm[]) {
    this.#multiplier = multiplier;
    this.terms = terms;
    this.parameters = terms.flatMap(({ parameters }) => parameters);
  }

  /** Whether examples need more data about the past than features. */
  get wantsPast(): boolean {
    return this.terms.some(({ wantsPast }) => wantsPast === true);
  }

  /** Scales back what was learned: 1 keeps all of it, 0 ranks like search. */
  temper(trust: number): void {
    for (const term of this.terms) term.temper?.(trust);
  }

  /** Logits [candidates] for each example. */
  forward(batch: RankBatch): Floats[] {
    const logits = batch.examples.map(() => this.#multiplier.floats(batch.candidates.size));
    for (const term of this.terms) term.forward(batch, logits);
    return logits;
  }

  /** Adds to the slopes of all parameters. */
  backward(batch: RankBatch, slopes: readonly Floats[]): void {
    for (const term of this.terms) term.backward(batch, slopes);
  }
}

export interface RankModelOptions extends TermOptions {
  readonly terms?: readonly TermName[];
  /** Number of training runs, for options that depend on it. */
  readonly runs?: number;
}

/** Options of a model with additional terms or another number of heads. */
export function chosenModel({ terms = [], heads }: ModelChoice): RankModelOptions {
  return { terms: [...DEFAULTS.terms, ...terms], ...(heads !== undefined && { bilinear: { heads } }) };
}

export function createRankModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  { terms = DEFAULTS.terms, runs = 0, ...options }: RankModelOptions = {},
): RankModel {
  return new RankModel(multiplier, createTerms(terms, { multiplier, dimension, random, options, runs }));
}

/** The model of a parameter file: the file determines its terms and heads, whatever the configuration. */
export function readRankModel(
  multiplier: Multiplier<Floats>,
  dimension: number,
  random: Random,
  values: ReadonlyMap<string, Float32Array>,
): RankModel {
  const blocks = [...values.keys()];
  const terms = OPTIONAL_TERMS.filter((name) => blocks.some((block) => block.startsWith(`${name}.`)));
  const intents = values.get('bilinear.intents');
  const heads = intents && headsOf(intents.length, dimension);
  const known = heads !== undefined && Number.isInteger(heads) && heads > 0;
  const model = createRankModel(
    multiplier,
    dimension,
    random,
    chosenModel({ terms, ...(known && { heads }) }),
  );
  loadParams(values, model.parameters);
  return model;
}
