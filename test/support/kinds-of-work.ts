import type { CandidateEntry } from '../../src/core/learning/ranker/candidates.ts';
import type { LearnableRun } from '../../src/core/learning/ranker/learn-ranker.ts';
import { normalise } from '../../src/core/numeric/matrices.ts';
import { createRandom, type Random } from '../../src/core/numeric/random.ts';
import { unitVector } from './tiny-ranking.ts';

export interface KindsOfWork {
  readonly dimension: number;
  readonly tools: readonly CandidateEntry[];
  /** One run of a kind of work; of a random kind if none is given. */
  run(kind?: number): LearnableRun;
  runs(count: number): LearnableRun[];
  /** The same runs, with random tools in this share of them. */
  poisoned(runs: readonly LearnableRun[], share: number): LearnableRun[];
}

/**
 * A few kinds of work, each with its own tool, which its text does not reveal: intents of a kind are similar, and
 * tools resemble no intent.
 */
export function kindsOfWork({
  seed = 1,
  dimension = 16,
  kinds = 4,
  tools = 12,
  spread = 0.75,
} = {}): KindsOfWork {
  const random = createRandom(seed);
  const entries = Array.from(
    { length: tools },
    (_, i): CandidateEntry => ({
      id: `s${i % 3}:t${i}`,
      server: `s${i % 3}`,
      name: `t${i}`,
      words: [`t${i}`],
      vector: unitVector(random, dimension),
    }),
  );
  const centres = Array.from({ length: kinds }, () => unitVector(random, dimension));
  let made = 0;
  const run = (kind = random.int(kinds)): LearnableRun => {
    const nth = ++made;
    const intent = near(centres[kind]!, spread, random);
    return {
      text: `work of kind${kind}, ${nth}`,
      intent,
      clauses: [intent],
      words: ['work', `kind${kind}`, `${nth}`],
      uses: [entries[kind]!.id],
      succeeded: true,
      key: `work ${nth}`,
    };
  };
  return {
    dimension,
    tools: entries,
    run,
    runs: (count) => Array.from({ length: count }, () => run()),
    poisoned: (runs, share) =>
      runs.map((each) =>
        random.next() < share ? { ...each, uses: [entries[random.int(tools)]!.id] } : each,
      ),
  };
}

/** A unit vector at a cosine of about 1 / sqrt(1 + spread^2) to the given one. */
function near(centre: Float32Array, spread: number, random: Random): Float32Array {
  const away = unitVector(random, centre.length);
  return normalise(centre.map((value, i) => value + spread * away[i]!));
}
