import { expect, test } from 'vitest';
import { createTinyRanking } from '../../../../test/support/tiny-ranking.ts';
import { normalise } from '../../numeric/matrices.ts';
import { DistinctVectors, PastRuns, pastForTerms } from './past-runs.ts';

test('equal vectors share one row, others have their own, and products are listed by row', () => {
  const vectors = new DistinctVectors(4);
  const [first, again] = [Float32Array.of(1, 0, 0, 2), Float32Array.of(1, 0, 0, 2)];
  // Equal except for the last number.
  const other = Float32Array.of(1, 0, 0, 3);
  expect([first, other, again, other].map((vector) => vectors.add(vector))).toEqual([0, 1, 0, 1]);
  expect(vectors.size).toBe(2);
  const queries = [Float32Array.of(1, 0, 0, 0), Float32Array.of(0, 0, 0, 1)];
  expect([...vectors.greatestDots(queries)]).toEqual([2, 3]);
});

const { candidates } = createTinyRanking({ dimension: 2 });

test('[RANK-9] each candidate has the past intents it succeeded for, nearest first, without hidden ones', () => {
  const past = pastOf([
    [0.1, [1]],
    [0.9, [1, 2]],
    [0.5, [2, 1]],
    [0.95, [1]],
    [0.8, [2]],
  ]);
  past.weigh([1, 1, 0.9, 1, 0.2]);
  const { pastIntents, edges, hiddenEdges } = pastForTerms(intentAt(1), past, (run) => run === 3);
  const intents = past.runs.map(({ intent }) => intent);
  expect(pastIntents).toEqual(
    new Map([
      [1, [intents[1], intents[2], intents[0]]],
      [2, [intents[1], intents[2]]],
    ]),
  );
  expect(edges).toBe(past.uses);
  expect(hiddenEdges).toEqual([3]);
});

test('[RANK-9] a candidate has at most eight past intents', () => {
  const past = pastOf(Array.from({ length: 20 }, (_, i) => [i / 20, [0]]));
  expect(pastForTerms(intentAt(1), past).pastIntents.get(0)).toEqual(
    past.runs
      .slice(-8)
      .map(({ intent }) => intent)
      .reverse(),
  );
});

/** Runs by their intent's cosine with (1, 0), with the tools they used. */
function pastOf(runs: readonly (readonly [cosine: number, uses: readonly number[]])[]): PastRuns {
  return new PastRuns(
    runs.map(([cosine, uses], i) => {
      const intent = intentAt(cosine);
      return { text: '', intent, clauses: [intent], words: [], uses, key: String(i) };
    }),
    candidates,
  );
}

function intentAt(cosine: number): Float32Array {
  return normalise(Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2)));
}
