import { type PastSequences, rememberSequences } from '../../core/learning/next/follow-statistics.ts';
import { learnNext } from '../../core/learning/next/learn-next.ts';
import {
  createNextModel,
  loadNext,
  NEXT_FORM,
  type NextModel,
  nextBlocks,
} from '../../core/learning/next/next-model.ts';
import type { Candidates, IntentForms } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';
import type { Ranker } from '../../core/learning/ranker/ranker.ts';
import { WasmMultiplier } from '../../core/numeric/kernels.ts';
import { createRandom } from '../../core/numeric/random.ts';
import { type NextAnswer, predictNext } from '../../core/planning/suggest/predict-next.ts';
import type { NextStep, SearchHit } from '../gateway.ts';
import type { Embedder } from '../ports.ts';
import { intentForms } from './learnable-run.ts';
import { createStoredModel, type StoredModel, type StoredModelPorts } from './stored-model.ts';

const DEFAULTS = {
  seed: 1,
};

/** What past runs say of what comes next. */
export interface NextMemory extends Omit<StoredModel<unknown>, 'current'> {
  /** Null where no past run has anything to say: the intent is foreign to them, and so is the last step. */
  predict(intent: IntentForms, executed: readonly string[]): NextAnswer[] | null;
}

export interface NextMemoryParts {
  readonly ports: StoredModelPorts;
  /** The newest runs, oldest first; another list whenever there is another run. */
  readonly runs: () => readonly LearnableRun[];
  /** How far a run is believed, in [0, 1]. */
  readonly beliefIn: (run: LearnableRun) => number;
  /** Null while nothing was learned. */
  readonly ranker: () => Ranker | null;
}

export function createNextMemory({ ports, runs, beliefIn, ranker }: NextMemoryParts): NextMemory {
  const multiplier = new WasmMultiplier();
  const kept = createStoredModel<NextModel>({
    ports,
    what: 'next steps',
    form: NEXT_FORM,
    runs,
    learn,
    read,
  });
  let last: { readonly of: readonly unknown[]; readonly history: PastSequences } | undefined;

  function learn() {
    const known = ranker()?.candidates;
    return known ? blocksFrom(known) : null;
  }

  function* blocksFrom(known: Candidates) {
    const lesson = { candidates: known, runs: runs(), beliefIn, multiplier, seed: DEFAULTS.seed };
    const { model } = yield* learnNext(lesson);
    return nextBlocks(model);
  }

  function read(values: ReadonlyMap<string, Float32Array>): NextModel {
    const model = createNextModel(multiplier, ports.embedder.dimension, createRandom(DEFAULTS.seed));
    loadNext(values, model);
    return model;
  }

  /** Made once per state of what it is made of. */
  function history(known: Candidates, model: NextModel): PastSequences {
    const of = [known, runs(), model];
    if (!last || of.some((each, i) => each !== last!.of[i])) {
      for (const term of model.others.terms) term.prepare?.(known);
      last = { of, history: rememberSequences(known, runs(), beliefIn) };
    }
    return last.history;
  }

  return {
    recall: kept.recall,
    reload: kept.reload,
    refresh: kept.refresh,

    predict(intent, executed) {
      const current = ranker();
      const model = kept.current();
      if (!current || !model || runs().length === 0) return null;
      const { candidates: known, past } = current;
      const last = executed.at(-1);
      const place = last === undefined ? undefined : known.placeOf(last);
      const isKnownStep = place !== undefined && past.uses.some((uses) => uses.includes(place));
      if (!isKnownStep && current.rank(intent).familiarity === 0) return null;
      return predictNext({ candidates: known, history: history(known, model), model }, intent, executed);
    },
  };
}

interface NextParts {
  readonly embedder: Embedder;
  readonly next: Pick<NextMemory, 'predict'>;
  /** What serves where past runs have nothing to say. */
  readonly search: (intent: string) => Promise<readonly SearchHit[]>;
}

/** What past runs say comes next, or else what fits the intent and was not done yet. */
export async function predictNextStep(
  { embedder, next, search }: NextParts,
  intent: string,
  executed: readonly string[],
): Promise<NextStep[]> {
  const learned = intent.trim() === '' ? null : next.predict(await intentForms(embedder, intent), executed);
  if (learned) return learned;
  const hits = await search(intent);
  return hits
    .filter(({ tool }) => !executed.includes(tool.id))
    .map(({ tool, finalScore }) => ({ node: tool.id, score: finalScore, reason: 'fits the intent' }));
}
