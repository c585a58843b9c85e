import { rowOf } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import type { PastRun, PastRuns } from './past-runs.ts';

const DEFAULTS = {
  /** Share of a tool's words in a question about it. */
  words: 0.3,
  /** Number of runs that give the usual cosine of an intent and its tools, which is kept within these bounds. */
  runs: 50,
  leastCosine: 0.2,
  mostCosine: 0.95,
};

/** A question with known answers that resembles nothing in the past. */
export interface ForeignQuestion {
  readonly query: IntentForms;
  /** Indices of the correct candidates. */
  readonly right: readonly number[];
  readonly isHidden: (run: number) => boolean;
  /** Questions with the same key are about the same thing. */
  readonly key: string;
}

/**
 * Questions about tools as if nobody had ever used them: some of a tool's own words, and a vector at the usual cosine
 * of an intent and its tool. They need no language model, and never-used tools get them as well.
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

/** Mean cosine of the newest runs' intents and their tools. */
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

/** A unit vector at this cosine with another, in a random direction. */
function turnedAway(vector: Float32Array, cosine: number, random: Random): Float32Array {
  const away = Float32Array.from(vector, () => random.normal());
  const along = away.reduce((sum, value, i) => sum + value * vector[i]!, 0);
  const across = away.map((value, i) => value - along * vector[i]!);
  const length = Math.sqrt(across.reduce((sum, value) => sum + value * value, 0)) || 1;
  const share = Math.sqrt(1 - cosine * cosine) / length;
  return across.map((value, i) => cosine * vector[i]! + share * value);
}
