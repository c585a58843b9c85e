import {
  type CandidateEntry,
  Candidates,
  type IntentForms,
} from '../../src/core/learning/ranker/candidates.ts';
import type { LearnableRun } from '../../src/core/learning/ranker/learn-ranker.ts';
import { createRandom } from '../../src/core/numeric/random.ts';
import { unitVector } from './tiny-ranking.ts';

export const TINY_DIMENSION = 8;

/** Tools `s0:t0`, `s1:t1`, `s0:t2`, … with random vectors. */
export function tinyTools(count: number): Candidates {
  const random = createRandom(11);
  const entries = Array.from(
    { length: count },
    (_, i): CandidateEntry => ({
      id: tinyTool(i),
      server: `s${i % 2}`,
      name: `t${i}`,
      words: [`t${i}`],
      vector: unitVector(random, TINY_DIMENSION),
    }),
  );
  return new Candidates(entries, [], TINY_DIMENSION);
}

export function tinyTool(place: number): string {
  return `s${place % 2}:t${place}`;
}

/** An intent whose words say nothing; its vector depends on the seed. */
export function tinyIntent(seed: number): IntentForms {
  const vector = unitVector(createRandom(seed), TINY_DIMENSION);
  return { text: `intent ${seed}`, intent: vector, clauses: [vector], words: ['intent', `${seed}`] };
}

export function tinyRun(seed: number, places: readonly number[]): LearnableRun {
  return { ...tinyIntent(seed), uses: places.map(tinyTool), succeeded: true, key: `key ${seed}` };
}
