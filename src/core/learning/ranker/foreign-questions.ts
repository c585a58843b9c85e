import { rowOf } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import type { PastRun, PastRuns } from './past-runs.ts';

const DEFAULTS = {
  /** Share of a tool's words that a question about it holds. */
  words: 0.3,
  /** Runs that tell how near intents usually are to the tools they use; cosines are kept within these bounds. */
  runs: 50,
  leastCosine: 0.2,
  mostCosine: 0.95,
};

/** A question with known answers that the past says nothing of. */
export interface ForeignQuestion {
  readonly query: IntentForms;
  /** Places of the right candidates. */
  readonly right: readonly number[];
  readonly isHidden: (run: number) => boolean;
  /** Questions of one key are about the same. */
  readonly key: string;
}

/**
 * Questions about tools as if nobody had ever used them: some of a tool's own words, and its vector turned away as far
 * as intents usually are from what they use. No model is asked for them, and never-used tools have theirs like any.
 */
export function toolQuestions(
  count: number,
  candidates: Candidates,
  past: PastRuns,
  random: Random,
): ForeignQuestion[] {
  const cosine = usualCosine(candidates, past);
  return random
    .shuffle([...Array(candidates.tools).keys()])
    .slice(0, count)
    .map((place) => {
      const words = [...new Set(candidates.wordsOf(place))].filter(() => random.next() < DEFAULTS.words);
      const intent = turnedAway(rowOf(candidates.vectors, place), cosine, random);
      return {
        query: { text: words.join(' '), intent, clauses: [intent], words },
        right: [place],
        isHidden: hiding(past, (used) => used === place),
        key: candidates.ids[place]!,
      };
    });
}

/** A run as if nobody had used its tools before. */
export function runQuestion(run: PastRun, past: PastRuns): ForeignQuestion {
  const uses = new Set(run.uses);
  return { query: run, right: run.uses, isHidden: hiding(past, (place) => uses.has(place)), key: run.key };
}

function hiding(past: PastRuns, isRight: (place: number) => boolean): (run: number) => boolean {
  const hidden = past.uses.map((uses) => uses.some(isRight));
  return (run) => hidden[run]!;
}

/** Of the newest runs' intents and what they used. */
function usualCosine(candidates: Candidates, past: PastRuns): number {
  let sum = 0;
  let count = 0;
  for (const { intent, uses } of past.runs.slice(-DEFAULTS.runs)) {
    const cosines = candidates.cosines(intent);
    for (const place of uses) sum += cosines[place]!;
    count += uses.length;
  }
  return Math.min(DEFAULTS.mostCosine, Math.max(DEFAULTS.leastCosine, sum / (count || 1)));
}

/** A unit vector at this cosine with another, in a direction drawn by lot. */
function turnedAway(vector: Float32Array, cosine: number, random: Random): Float32Array {
  const away = Float32Array.from(vector, () => random.normal());
  const along = away.reduce((sum, value, i) => sum + value * vector[i]!, 0);
  const across = away.map((value, i) => value - along * vector[i]!);
  const length = Math.sqrt(across.reduce((sum, value) => sum + value * value, 0)) || 1;
  const share = Math.sqrt(1 - cosine * cosine) / length;
  return across.map((value, i) => cosine * vector[i]! + share * value);
}
