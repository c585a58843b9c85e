import { describe, expect, test } from 'vitest';
import { createTinyRanking } from '../../../test/support/tiny-ranking.ts';
import type { Floats, Multiplier } from '../numeric/matrices.ts';
import { PlainMultiplier } from '../numeric/plain-multiplier.ts';
import { createRandom } from '../numeric/random.ts';
import { WasmMultiplier } from '../numeric/wasm-multiplier.ts';
import { BilinearTerm } from './bilinear-term.ts';
import { FusionTerm, searchFusion } from './fusion-term.ts';
import { listwiseLoss } from './listwise-loss.ts';
import { RankModel } from './rank-model.ts';
import type { Parameter, RankTerm } from './rank-term.ts';
import { learnFrom, trainRanker } from './train-ranker.ts';

const DIMENSION = 12;
/** Entries of a block that are checked; all where it has no more. */
const SAMPLE = 60;
/** Of central differences: their error grows with its square, that of rounding as it shrinks. */
const STEP = 1e-5;

type TermFactory = (multiplier: Multiplier<Floats>) => RankTerm;

const TERMS: Readonly<Record<string, TermFactory>> = {
  fusion: (multiplier) => new FusionTerm(multiplier, searchFusion(createRandom(2), 6)),
  bilinear: (multiplier) =>
    new BilinearTerm(multiplier, DIMENSION, createRandom(3), { heads: 2, headColumns: 3 }),
};

/** Each by itself, and all together. */
const SETS: readonly (readonly [label: string, names: readonly string[]])[] = [
  ...Object.keys(TERMS).map((name) => [name, [name]] as const),
  ['all', Object.keys(TERMS)],
];

describe('[RANK-1] the gradient is that of finite differences', () => {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });

  test('of the loss by each logit', () => {
    const random = createRandom(4);
    const logits = Float64Array.from({ length: 9 }, () => 2 * random.normal());
    const slopes = new Float64Array(9);
    listwiseLoss(logits, [1, 4], 0.7, slopes);
    for (let i = 0; i < logits.length; i++) {
      const difference = slopeAt(logits, i, () => listwiseLoss(logits, [1, 4], 0.7, new Float64Array(9)));
      expect(isClose(slopes[i]!, 0.7 * difference), `logit ${i}`).toBe(true);
    }
  });

  test.each(SETS)('of %s', (_, names) => {
    const model = perturbed(modelOf(new PlainMultiplier(), names));
    expectRightSlopes(model, () => learnFrom(model, candidates, examples));
  });
});

test.each(SETS)('[RANK-2] wasm in single precision and plain loops in double agree: %s', (_, names) => {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
  const [single, double] = [new WasmMultiplier(), new PlainMultiplier()].map((multiplier) => {
    const model = perturbed(modelOf(multiplier, names));
    const loss = learnFrom(model, candidates, examples);
    const logits = model.forward({ candidates, examples });
    return { loss, logits, slopes: model.parameters.map(({ slopes }) => slopes) };
  });
  expect(distance([single!.loss], [double!.loss])).toBeLessThan(1e-4);
  for (const [i, row] of single!.logits.entries())
    expect(distance(row, double!.logits[i]!)).toBeLessThan(1e-4);
  for (const [i, row] of single!.slopes.entries())
    expect(distance(row, double!.slopes[i]!)).toBeLessThan(1e-4);
});

test.each(SETS)(
  '[RANK-3] every weight moves within the first 20 steps, and the loss falls: %s',
  (_, names) => {
    const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
    const model = modelOf(new WasmMultiplier(), names);
    const starts = model.parameters.map(({ values }) => values.slice());
    const options = { random: createRandom(7), steps: 20, rate: 0.01 };
    const losses = [...trainRanker(model, candidates, examples, options)].map(({ loss }) => loss);
    for (const [k, { name, values }] of model.parameters.entries()) {
      const unmoved = values.reduce((count, value, i) => count + (value === starts[k]![i] ? 1 : 0), 0);
      expect(unmoved, `${name}: entries that stayed`).toBe(0);
    }
    expect(losses.at(-1)).toBeLessThan(losses[0]!);
  },
);

/** As trained: from zero-started weights nothing would flow. */
function perturbed(model: RankModel): RankModel {
  const random = createRandom(5);
  for (const { values } of model.parameters) {
    for (let i = 0; i < values.length; i++) values[i]! += 0.3 * random.normal();
  }
  return model;
}

function modelOf(multiplier: Multiplier<Floats>, names: readonly string[]): RankModel {
  return new RankModel(
    multiplier,
    names.map((name) => TERMS[name]!(multiplier)),
  );
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

/** Within 1e-3 of the greater; what is below 1e-8 is rounding of the differences. */
function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-3 * Math.max(Math.abs(a), Math.abs(b)) + 1e-8;
}

function clearSlopes(parameters: readonly Parameter[]): void {
  for (const { slopes } of parameters) slopes.fill(0);
}

/** Length of the difference, as a share of the length. */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const length = (values: readonly number[]) => Math.hypot(...values);
  const difference = Array.from(a, (value, i) => value - b[i]!);
  return length(difference) / (length(Array.from(b)) || 1);
}
