import { describe, expect, test } from 'vitest';
import { TINY_DIMENSION, tinyRun, tinyTools } from '../../../../test/support/tiny-history.ts';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { PlainMultiplier } from '../../numeric/matrices.ts';
import { createRandom } from '../../numeric/random.ts';
import { decodeParams, encodeParams } from '../ranker/params-file.ts';
import type { RankModel } from '../ranker/rank-model.ts';
import type { RankBatch } from '../ranker/rank-term.ts';
import { learnFrom, type TrainingExample, trainRanker } from '../ranker/train-ranker.ts';
import { rememberSequences } from './follow-statistics.ts';
import { createNextModel, learnNext, loadNext, nextBlocks } from './learn-next.ts';
import {
  BINARY_LABELS,
  doneFeatures,
  NO,
  nextFeatures,
  nextQuery,
  repeatFeatures,
  YES,
} from './next-features.ts';

const SIZE = 7;
/** Step of central differences in double precision. */
const STEP = 1e-6;
const candidates = tinyTools(SIZE);
const runs = Array.from({ length: 12 }, (_, i) =>
  tinyRun(i, [i % 3, 3, 3, 4 + (i % 2), 6].slice(0, 3 + (i % 3))),
);
const history = rememberSequences(candidates, runs);

/** Features of real moments of runs, for all models. */
const examples = history.sequences.slice(0, 6).map((sequence, run) => {
  const query = nextQuery(history.past.runs[run]!, candidates, history, {
    isHidden: (other) => other === run,
  });
  const before = sequence.slice(0, 1 + (run % sequence.length));
  const next = sequence[before.length];
  const { features, statistics } = nextFeatures(query, before, candidates, history);
  const common = { intent: query.intent, weight: 1 - run / 10 };
  const last = before.at(-1)!;
  return {
    others: { ...common, features, right: [next === undefined || next === last ? 0 : next], leftOut: last },
    again: {
      ...common,
      features: repeatFeatures(statistics, before),
      right: [next === last ? YES : NO],
    },
    done: {
      ...common,
      features: doneFeatures(statistics, before, query.chances),
      right: [next === undefined ? YES : NO],
    },
  };
});
const PARTS = ['others', 'again', 'done'] as const;

function setOf(part: (typeof PARTS)[number]): [RankBatch['candidates'], TrainingExample[]] {
  return [part === 'others' ? candidates : BINARY_LABELS, examples.map((each) => each[part])];
}

describe.each(PARTS)('[NEXT-3] the model of %s', (part) => {
  const [ranked, lessons] = setOf(part);

  test('has the gradient of finite differences, for every block of weights in random directions', () => {
    const random = createRandom(3);
    const model = createNextModel(new PlainMultiplier(), TINY_DIMENSION, random)[part];
    for (const { values } of model.parameters) {
      for (let i = 0; i < values.length; i++) values[i]! += 0.2 * random.normal();
    }
    const slopesOf = ({ parameters }: RankModel) => {
      for (const { slopes } of parameters) slopes.fill(0);
      learnFrom(model, ranked, lessons);
      return parameters.map(({ slopes }) => slopes.slice());
    };
    const analytic = slopesOf(model);
    for (const [k, { name, values }] of model.parameters.entries()) {
      for (let direction = 0; direction < 5; direction++) {
        const along = Float64Array.from(values, () => random.normal());
        const lossAt = (step: number) => {
          const held = values.slice();
          for (let i = 0; i < values.length; i++) values[i]! += step * along[i]!;
          const { loss } = learnFrom(model, ranked, lessons);
          values.set(held);
          return loss;
        };
        const difference = (lossAt(STEP) - lossAt(-STEP)) / (2 * STEP);
        const slope = along.reduce((sum, each, i) => sum + each * analytic[k]![i]!, 0);
        expect(Math.abs(slope - difference), name).toBeLessThan(1e-3 * Math.abs(difference) + 1e-7);
      }
    }
  });

  test('moves every weight within 20 steps, and its loss falls', () => {
    const random = createRandom(4);
    const model = createNextModel(new WasmMultiplier(), TINY_DIMENSION, random)[part];
    // Random values, so that every column distinguishes candidates.
    const features = () => lessons[0]!.features.map(() => random.normal());
    const told = [...lessons, ...lessons].map((lesson) => ({ ...lesson, features: features() }));
    const starts = model.parameters.map(({ values }) => values.slice());
    const losses = [...trainRanker(model, ranked, told, { seed: 1, steps: 20, rate: 0.01 })];
    for (const [k, { name, values }] of model.parameters.entries()) {
      const unmoved = [...values.keys()].filter((i) => values[i] === starts[k]![i]);
      expect(unmoved, `${name}: entries that stayed`).toEqual([]);
    }
    expect(losses.at(-1)!.loss).toBeLessThan(losses[0]!.loss);
  });
});

test('[NEXT-2] training on a run ignores what this run and runs of the same work would have taught', () => {
  const [first] = runs;
  const alike = [...runs, { ...tinyRun(0, [5, 5, 5]), key: first!.key }];
  const longer = rememberSequences(candidates, alike);
  const isHidden = (run: number) => longer.past.runs[run]!.key === first!.key;
  const others = rememberSequences(candidates, runs.slice(1));
  // Equal weights, so that only hiding could make a difference.
  for (const { past } of [longer, others]) past.weigh(new Array<number>(past.runs.length).fill(1));
  const seen = followsOf(longer, isHidden);
  expect(seen).toEqual(followsOf(others));

  function followsOf(past: typeof longer, hides?: (run: number) => boolean) {
    const query = nextQuery(first!, candidates, past, hides && { isHidden: hides });
    const { follows, followsAkin, company, ends } = nextFeatures(query, [0, 3], candidates, past).statistics;
    return [follows, followsAkin, company]
      .map((list) => [...list].map(rounded))
      .concat([[rounded(ends.afterLast)]]);
  }
});

test('[NEXT-4] the same seed gives the same model', () => {
  const learned = () => {
    const steps = learnNext({ candidates, runs, multiplier: new WasmMultiplier(), seed: 9 });
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value.model;
    }
  };
  const [one, other] = [learned(), learned()];
  for (const part of PARTS) {
    expect(one[part].parameters.map(({ values }) => [...values])).toEqual(
      other[part].parameters.map(({ values }) => [...values]),
    );
  }
});

function rounded(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}

test('[LEARN-15] a predictor loads stored parameters of its shape bit by bit, and rejects another shape unchanged', () => {
  const modelOf = (dimension: number, seed: number) =>
    createNextModel(new WasmMultiplier(), dimension, createRandom(seed));
  const numbersOf = (model: ReturnType<typeof modelOf>) => nextBlocks(model).map(({ values }) => [...values]);
  const [written, read, other] = [modelOf(8, 1), modelOf(8, 2), modelOf(9, 3)];
  const bytes = encodeParams({ embedding: 'tiny', dimension: 8, runs: 3 }, nextBlocks(written));
  const { values } = decodeParams(bytes);
  expect(numbersOf(read)).not.toEqual(numbersOf(written));
  loadNext(values, read);
  expect(numbersOf(read)).toEqual(numbersOf(written));
  const before = numbersOf(other);
  expect(() => loadNext(values, other)).toThrow(/cannot be read/);
  expect(numbersOf(other)).toEqual(before);
});
