import { describe, expect, test } from 'vitest';
import { proofRuns } from '../../../../test/proof-count.ts';
import { createTinyRanking } from '../../../../test/support/tiny-ranking.ts';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { type Floats, type Multiplier, PlainMultiplier } from '../../numeric/matrices.ts';
import { createRandom } from '../../numeric/random.ts';
import { createTerms, RankModel, TERM_NAMES, type TermName, type TermOptions } from '../ranker/rank-model.ts';
import type { Parameter } from '../ranker/rank-term.ts';
import { learnFrom, listwiseLoss, trainRanker } from '../ranker/train-ranker.ts';

const DIMENSION = 12;
/** Most entries of a block that are checked. */
const SAMPLE = proofRuns(60);
/** Step of central differences: their error grows with its square, the rounding error as it shrinks. */
const STEP = 1e-5;

/** Small, and such that every part matters: fewer ranked candidates than candidates, more columns than heads. */
const VARIANTS: Readonly<Record<string, readonly [readonly TermName[], TermOptions]>> = {
  fusion: [['fusion'], { fusion: { hidden: 6 } }],
  bilinear: [['bilinear'], { bilinear: { heads: 2, headColumns: 3 } }],
  'message passing by means': [['message_passing'], { message_passing: { hidden: 8 } }],
  'message passing by attention, separate projections': [
    ['message_passing'],
    { message_passing: { hidden: 8, heads: 2, aggregation: 'attention', isSeparate: true } },
  ],
  'attention over a set': [['set_attention'], { set_attention: { heads: 2, hidden: 8, nearest: 2 } }],
  'attention over a set, separate projections, the best 6': [
    ['fusion', 'set_attention'],
    { fusion: { hidden: 3 }, set_attention: { heads: 4, hidden: 8, most: 6, isSeparate: true } },
  ],
  'attention among candidates, vectors among what they show': [
    ['candidate_attention'],
    { candidate_attention: { heads: 2, hidden: 8, hasVectors: true } },
  ],
  'attention among the best 4, by features alone': [
    ['fusion', 'candidate_attention'],
    { fusion: { hidden: 3 }, candidate_attention: { heads: 2, hidden: 6, most: 4 } },
  ],
};

/** Each term by itself, and all together. */
const SETS: readonly (readonly [label: string, names: readonly TermName[], options: TermOptions])[] = [
  ...Object.entries(VARIANTS).map(([label, [names, options]]) => [label, names, options] as const),
  ['all', TERM_NAMES, Object.assign({}, ...Object.values(VARIANTS).map(([, options]) => options))],
];

describe('[RANK-1] the gradient is that of finite differences', () => {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });

  test('of the loss with respect to each logit', () => {
    const random = createRandom(4);
    const logits = Float64Array.from({ length: 9 }, () => 2 * random.normal());
    const slopes = new Float64Array(9);
    listwiseLoss(logits, [1, 4], 0.7, slopes);
    for (let i = 0; i < logits.length; i++) {
      const difference = slopeAt(logits, i, () => listwiseLoss(logits, [1, 4], 0.7, new Float64Array(9)));
      expect(isClose(slopes[i]!, 0.7 * difference), `logit ${i}`).toBe(true);
    }
  });

  test.each(SETS)('of %s', (_, names, options) => {
    const model = perturbed(modelOf(new PlainMultiplier(), names, options));
    expectRightSlopes(model, () => learnFrom(model, candidates, examples).loss);
  });
});

test.each(SETS)(
  '[RANK-2] wasm in single precision and plain loops in double agree: %s',
  (_, names, options) => {
    const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
    const [single, double] = [new WasmMultiplier(), new PlainMultiplier()].map((multiplier) => {
      const model = perturbed(modelOf(multiplier, names, options), 0.1);
      learnFrom(model, candidates, examples);
      const logits = model.forward({ candidates, examples });
      return { logits, slopes: model.parameters.map(({ slopes }) => slopes) };
    });
    const both = (of: (pass: NonNullable<typeof single>) => readonly ArrayLike<number>[]) =>
      of(single!).map((row, i) => distance(row, of(double!)[i]!));
    expect(Math.max(...both(({ logits }) => logits))).toBeLessThan(1e-4);
    expect(Math.max(...both(({ slopes }) => slopes))).toBeLessThan(1e-4);
  },
);

test.each(SETS)(
  '[RANK-3] every weight moves within the first 20 steps, and the loss falls: %s',
  (_, names, options) => {
    const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
    const model = modelOf(new WasmMultiplier(), names, options);
    const starts = model.parameters.map(({ values }) => values.slice());
    const training = { seed: 7, steps: 20, rate: 0.01 };
    const losses = [...trainRanker(model, candidates, examples, training)].map(({ loss }) => loss);
    for (const [k, { name, values }] of model.parameters.entries()) {
      const unmoved = [...values.keys()].filter((i) => values[i] === starts[k]![i]);
      expect(unmoved, `${name}: entries that stayed`).toEqual([]);
    }
    expect(losses.at(-1)).toBeLessThan(losses[0]!);
  },
);

/** As if trained: with weights that start at zero, no gradient would flow. */
function perturbed(model: RankModel, by = 0.3): RankModel {
  const random = createRandom(5);
  for (const { values } of model.parameters) {
    for (let i = 0; i < values.length; i++) values[i]! += by * random.normal();
  }
  return model;
}

function modelOf(multiplier: Multiplier<Floats>, names: Iterable<TermName>, options: TermOptions): RankModel {
  const settings = { multiplier, dimension: DIMENSION, random: createRandom(2), options };
  return new RankModel(multiplier, createTerms(names, settings));
}

function expectRightSlopes({ parameters }: RankModel, loss: () => number): void {
  const random = createRandom(6);
  clearSlopes(parameters);
  loss();
  const analytic = parameters.map(({ slopes }) => slopes.slice());
  for (const [k, { name, values }] of parameters.entries()) {
    const entries = random.shuffle([...values.keys()]).slice(0, SAMPLE);
    expect(
      entries.some((i) => analytic[k]![i] !== 0),
      `${name} has a gradient`,
    ).toBe(true);
    for (const i of entries) {
      const difference = slopeAt(values, i, loss);
      const said = `${name}[${i}]: ${analytic[k]![i]} instead of ${difference}`;
      expect(isClose(analytic[k]![i]!, difference), said).toBe(true);
    }
  }
}

function slopeAt(values: Floats, i: number, loss: () => number): number {
  const value = values[i]!;
  values[i] = value + STEP;
  const above = loss();
  values[i] = value - STEP;
  const below = loss();
  values[i] = value;
  return (above - below) / (2 * STEP);
}

/** Within 1e-3 of the greater value; below 1e-8 it is rounding error of the differences. */
function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-3 * Math.max(Math.abs(a), Math.abs(b)) + 1e-8;
}

function clearSlopes(parameters: readonly Parameter[]): void {
  for (const { slopes } of parameters) slopes.fill(0);
}

/** Norm of the difference, as a share of the norm. */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const length = (values: readonly number[]) => Math.hypot(...values);
  const difference = Array.from(a, (value, i) => value - b[i]!);
  return length(difference) / (length(Array.from(b)) || 1);
}
