import { type CandidateEntry, Candidates } from '../../src/core/learning/candidates.ts';
import { WIDTH } from '../../src/core/learning/rank-features.ts';
import type { TrainingExample } from '../../src/core/learning/train-ranker.ts';
import { normalise } from '../../src/core/numeric/normalise.ts';
import { createRandom, type Random } from '../../src/core/numeric/random.ts';

/** Candidates and queries small enough that every gradient can be checked. */
export interface TinyRanking {
  readonly candidates: Candidates;
  readonly examples: readonly TrainingExample[];
}

/** Vectors, features and right answers at random; the queries differ in what is known of them. */
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
  const example = (right: readonly number[], weight: number): TrainingExample => ({
    features: Float32Array.from({ length: size * WIDTH }, () => random.normal()),
    intent: unitVector(random, dimension),
    right: right.filter((place) => place < size),
    weight,
  });
  return { candidates, examples: [example([0, 8], 1), example([2], 0.5), example([5, 6, 9], 0.8)] };
}

export function unitVector(random: Random, dimension: number): Float32Array {
  return normalise(Float32Array.from({ length: dimension }, () => random.normal()));
}
