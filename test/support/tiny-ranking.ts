import { type CandidateEntry, Candidates } from '../../src/core/learning/ranker/candidates.ts';
import { WIDTH } from '../../src/core/learning/ranker/rank-features.ts';
import type { TrainingExample } from '../../src/core/learning/ranker/train-ranker.ts';
import { normalise } from '../../src/core/numeric/matrices.ts';
import { createRandom, type Random } from '../../src/core/numeric/random.ts';

/** Candidates and queries small enough that every gradient can be checked. */
export interface TinyRanking {
  readonly candidates: Candidates;
  readonly examples: readonly TrainingExample[];
}

/** Random vectors, features and correct answers; the queries differ in what is known about them. */
export function createTinyRanking({
  seed = 1,
  dimension = 12,
  tools = 7,
  capabilities = 3,
} = {}): TinyRanking {
  const random = createRandom(seed);
  const entries = (count: number, server: string): CandidateEntry[] =>
    Array.from({ length: count }, (_, i) => ({
      id: `${server}:${i}`,
      server,
      name: `${server} ${i}`,
      words: [server],
      vector: unitVector(random, dimension),
    }));
  const candidates = new Candidates(entries(tools, 'tool'), entries(capabilities, ''), dimension);
  const size = tools + capabilities;
  const within = (places: readonly number[]) => places.filter((place) => place < size);
  const past = Array.from({ length: 5 }, () => unitVector(random, dimension));
  const edges = [[0, 1], [1, 2, 8], [3], [4, 5, 6], [7, 8, 9], []].map(within);
  const example = (right: readonly number[], weight: number): TrainingExample => ({
    features: Float32Array.from({ length: size * WIDTH }, () => random.normal()),
    intent: unitVector(random, dimension),
    right: within(right),
    weight,
  });
  return {
    candidates,
    examples: [
      {
        ...example([0, 8], 1),
        context: within([3, 8, 1]),
        pastIntents: new Map([
          [0, past.slice(0, 3)],
          [4, past.slice(1, 3)],
          [8, past.slice(2, 5)],
        ]),
        edges,
        hiddenEdges: [0, 4],
      },
      { ...example([2], 0.5), pastIntents: new Map([[2, past.slice(3)]]), edges },
      { ...example([5, 6, 9], 0.8), context: within([2]) },
    ],
  };
}

export function unitVector(random: Random, dimension: number): Float32Array {
  return normalise(Float32Array.from({ length: dimension }, () => random.normal()));
}
