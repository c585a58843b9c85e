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
  /** Servers with used tools, below which single tools are left out instead. */
  servers: 5,
  /** Shares of the runs that are left out: with the tools of some servers, at the most of these, and of other work. */
  far: 0.25,
  mostFar: 0.4,
  near: 0.2,
  /** And as many of each as it takes: the more are left out, the less is learned from the rest. */
  enough: { far: 100, near: 60 },
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

/** Work that a ranker is kept from seeing, so that it can be asked about it. */
export interface LeftOut {
  /** Ids of tools, as if they had just been attached: no run that uses one of them is learned from. */
  readonly tools: readonly string[];
  /** Keys of other runs. */
  readonly keys: readonly string[];
}

/** Leaves out the tools of random servers, and random runs of the others. */
export function leaveOut(
  runs: readonly { readonly uses: readonly string[]; readonly key: string }[],
  candidates: Candidates,
  random: Random,
): LeftOut {
  const used = [...new Set(runs.flatMap(({ uses }) => uses))].filter(
    (id) => candidates.placeOf(id) !== undefined,
  );
  const serverOf = (id: string) => candidates.servers[candidates.placeOf(id)!]!;
  const isByServer = new Set(used.map(serverOf)).size >= DEFAULTS.servers;
  const units = Map.groupBy(used, (id) => (isByServer ? serverOf(id) : id)).values();
  const tools = new Set<string>();
  let far = 0;
  for (const unit of random.shuffle([...units])) {
    const withIt = tools.union(new Set(unit));
    const count = runs.filter(({ uses }) => uses.some((id) => withIt.has(id))).length;
    if (count > DEFAULTS.mostFar * runs.length) continue;
    for (const id of unit) tools.add(id);
    far = count;
    if (far >= Math.min(DEFAULTS.enough.far, DEFAULTS.far * runs.length)) break;
  }
  const rest = Map.groupBy(
    runs.filter(({ uses }) => !uses.some((id) => tools.has(id))),
    ({ key }) => key,
  );
  const keys: string[] = [];
  let near = 0;
  for (const [key, alike] of random.shuffle([...rest])) {
    if (near >= Math.min(DEFAULTS.enough.near, DEFAULTS.near * runs.length)) break;
    keys.push(key);
    near += alike.length;
  }
  return { tools: [...tools], keys };
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
