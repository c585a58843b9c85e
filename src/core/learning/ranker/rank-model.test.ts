import { describe, expect, test } from 'vitest';
import { createTinyRanking, unitVector } from '../../../../test/support/tiny-ranking.ts';
import { WasmMultiplier } from '../../numeric/kernels.ts';
import { type Floats, normalise, rowOf } from '../../numeric/matrices.ts';
import { createRandom, type Random } from '../../numeric/random.ts';
import type { Candidates } from './candidates.ts';
import { WIDTH } from './rank-features.ts';
import { createTerms, RankModel, TERM_NAMES, type TermName, type TermOptions } from './rank-model.ts';
import type { RankBatch, RankExample } from './rank-term.ts';
import { type TrainingExample, trainRanker } from './train-ranker.ts';

const DIMENSION = 12;

test('[RANK-4] before training, a model of all terms ranks exactly as search, and so does one of any terms', () => {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION, tools: 70, capabilities: 30 });
  for (const names of [TERM_NAMES, ...TERM_NAMES.slice(1).map((name) => ['fusion', name] as const)]) {
    const rows = modelOf(names).forward({ candidates, examples });
    expect(rows).toHaveLength(examples.length);
    for (const [i, logits] of rows.entries()) {
      expect(bestFirst(logits)).toEqual(bestFirst(hybridOf(examples[i]!)));
    }
  }
});

describe('[RANK-5] no value is NaN, whatever is missing', () => {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
  const bare = examples.map(({ features, intent, right, weight }) => ({ features, intent, right, weight }));
  const one = createTinyRanking({ dimension: DIMENSION, tools: 1, capabilities: 0 });
  const { size } = candidates;
  const vectors = { rows: size, columns: DIMENSION, values: new Float32Array(size * DIMENSION) };
  const cases: Readonly<
    Record<string, Omit<RankBatch, 'examples'> & { examples: readonly TrainingExample[] }>
  > = {
    'no context, past or edges': { candidates, examples: bare },
    'all of them empty': {
      candidates,
      examples: bare.map((example) => ({ ...example, context: [], pastIntents: new Map(), edges: [] })),
    },
    'every edge hidden': {
      candidates,
      examples: examples.map((example) => ({ ...example, hiddenEdges: [...(example.edges ?? []).keys()] })),
    },
    'one candidate': { candidates: one.candidates, examples: [{ ...one.examples[0]!, context: [0] }] },
    'no vectors': {
      candidates: { size, vectors },
      examples: examples.map((example) => ({ ...example, intent: new Float32Array(DIMENSION) })),
    },
    'no examples': { candidates, examples: [] },
  };

  test.each(Object.entries(cases))('%s', (_, { candidates, examples }) => {
    for (const aggregation of ['mean', 'attention'] as const) {
      const model = modelOf(TERM_NAMES, { message_passing: { aggregation } });
      const losses = [...trainRanker(model, candidates, examples, { seed: 1, steps: 5 })];
      expect(losses.every(({ loss }) => Number.isFinite(loss))).toBe(true);
      const values = [
        ...model.forward({ candidates, examples }),
        ...model.parameters.map(({ values }) => values),
      ];
      expect(values.every((row) => row.every(Number.isFinite))).toBe(true);
    }
  });
});

describe('[RANK-6] each term learns what the features lack, for queries it has not seen', () => {
  const size = 16;
  const { candidates } = createTinyRanking({ dimension: DIMENSION, tools: size, capabilities: 0 });

  test('attention over a set: what follows the latest of the candidates used', () => {
    const follow = (random: Random): TrainingExample => {
      const latest = random.int(size);
      return { ...noise(random, size), context: [random.int(size), latest], right: [(latest + 1) % size] };
    };
    expectLearned('set_attention', candidates, follow, { set_attention: { heads: 4, hidden: 32, pace: 1 } });
  });

  test('attention over a set: which candidate succeeded for an intent like this', () => {
    const remember = (random: Random): TrainingExample => {
      const example = noise(random, size);
      const right = random.int(size);
      const past = [...Array(size).keys()].map((place) => {
        const others = Array.from({ length: 3 }, () => unitVector(random, DIMENSION));
        const like = example.intent.map((value) => value + 0.1 * random.normal());
        return [place, place === right ? [others[0]!, normalise(like)] : others] as const;
      });
      return { ...example, pastIntents: new Map(past), right: [right] };
    };
    expectLearned('set_attention', candidates, remember, {
      set_attention: { heads: 4, hidden: 32, pace: 1 },
    });
  });

  test('message passing: what belongs together with the fitting candidate, by edges that training did not show', () => {
    const { candidates: many } = createTinyRanking({ dimension: 32, tools: 60, capabilities: 0 });
    const edges = Array.from({ length: 30 }, (_, i) => [2 * i, 2 * i + 1]);
    const partner =
      (from: number, count: number) =>
      (random: Random): TrainingExample => {
        const fits = from + random.int(count);
        const vector = rowOf(many.vectors, fits).map((value) => value + 0.1 * random.normal());
        return { ...noise(random, many.size), intent: normalise(vector), edges, right: [fits ^ 1] };
      };
    const options = { message_passing: { hidden: 32, pace: 0.1 } };
    expectLearned('message_passing', many, partner(0, 40), options, partner(40, 20));
  });

  test('attention among candidates: what another candidate decides', () => {
    const [flag, value] = [3, 4];
    const decide = (random: Random): TrainingExample => {
      const example = noise(random, size);
      const sign = random.int(2) === 0 ? -1 : 1;
      for (let place = 0; place < size; place++) example.features[place * WIDTH + value] = random.normal();
      example.features[random.int(size) * WIDTH + flag] = 5 * sign;
      const values = Array.from(
        { length: size },
        (_, place) => sign * example.features[place * WIDTH + value]!,
      );
      return { ...example, right: [values.indexOf(Math.max(...values))] };
    };
    expectLearned('candidate_attention', candidates, decide, {
      candidate_attention: { hidden: 16, pace: 1 },
    });
  });
});

test('[RANK-7] an edge that is hidden from a query does not affect it, and still affects others', () => {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
  for (const aggregation of ['mean', 'attention'] as const) {
    const model = modelOf(['message_passing'], { message_passing: { aggregation } });
    for (const { values } of model.parameters) for (let i = 0; i < values.length; i++) values[i]! += 0.1;
    const logitsOf = (example: RankExample) => model.forward({ candidates, examples: [example] })[0]!;
    const [first, second] = examples as [TrainingExample, TrainingExample];
    const without = (first.edges ?? []).map((edge, i) => (first.hiddenEdges?.includes(i) ? [] : edge));
    const { hiddenEdges: _, ...unhidden } = first;
    const [hidden, open] = model.forward({ candidates, examples: [first, second] });
    expect(hidden).toEqual(logitsOf({ ...unhidden, edges: without }));
    expect(hidden).not.toEqual(logitsOf(unhidden));
    expect(open).toEqual(logitsOf(second));
  }
});

test('[RANK-10] a model that is prepared gives the same logits', () => {
  const { candidates, examples } = createTinyRanking({ dimension: DIMENSION });
  const model = modelOf(TERM_NAMES);
  for (const { values } of model.parameters) for (let i = 0; i < values.length; i++) values[i]! += 0.05;
  const before = model.forward({ candidates, examples });
  for (const term of model.terms) term.prepare?.(candidates);
  expect(model.forward({ candidates, examples })).toEqual(before);
});

function expectLearned(
  name: TermName,
  candidates: Candidates,
  create: (random: Random) => TrainingExample,
  options: TermOptions = {},
  createUnseen = create,
): void {
  const random = createRandom(11);
  const seen = Array.from({ length: 1024 }, () => create(random));
  const unseen = Array.from({ length: 100 }, () => createUnseen(random));
  const [without, withIt] = ([['fusion'], ['fusion', name]] as const).map((names) => {
    const model = modelOf(names, options, candidates.vectors.columns);
    for (const _ of trainRanker(model, candidates, seen, {
      seed: 12,
      steps: 200,
      batch: 32,
      rate: 0.01,
    }));
    const rows = model.forward({ candidates, examples: unseen });
    return rows.filter((logits, i) => unseen[i]!.right.includes(bestFirst(logits)[0]!)).length;
  });
  expect(without).toBeLessThan(60);
  expect(withIt).toBeGreaterThan(80);
}

/** A query for which search has no information. */
function noise(random: Random, size: number): TrainingExample {
  return {
    features: Float32Array.from({ length: size * WIDTH }, (_, i) =>
      i % WIDTH === 0 ? 0.3 * random.normal() : 0,
    ),
    intent: unitVector(random, DIMENSION),
    right: [],
    weight: 1,
  };
}

function modelOf(
  names: Iterable<TermName>,
  options: TermOptions = {},
  dimension: number = DIMENSION,
): RankModel {
  const multiplier = new WasmMultiplier();
  const settings = { multiplier, dimension, random: createRandom(3), options };
  return new RankModel(multiplier, createTerms(names, settings));
}

/** The feature that search ranks by. */
function hybridOf({ features }: RankExample): Float32Array {
  return features.filter((_, i) => i % WIDTH === 0);
}

function bestFirst(scores: Floats): number[] {
  return [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!);
}
