import { containedIn, type TypedGraph } from '../../core/graph/typed-graph.ts';
import { type PastSequences, rememberSequences } from '../../core/learning/next/follow-statistics.ts';
import {
  createNextModel,
  learnNext,
  loadNext,
  NEXT_FORM,
  type NextModel,
  nextBlocks,
} from '../../core/learning/next/learn-next.ts';
import { type Candidates, type IntentForms, intentForms } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun } from '../../core/learning/ranker/learn-ranker.ts';
import type { Ranker } from '../../core/learning/ranker/ranker.ts';
import { WasmMultiplier } from '../../core/numeric/kernels.ts';
import { createRandom } from '../../core/numeric/random.ts';
import {
  DONE_NODE,
  followReason,
  type NextAnswer,
  predictNext,
} from '../../core/planning/suggest/predict-next.ts';
import { kindOf, type NodeId } from '../../core/vocabulary/ids.ts';
import type { SearchHit } from '../catalogue/search.ts';
import type { Embedder } from '../ports.ts';
import { createStoredModel, type StoredModel, type StoredModelPorts } from './stored-model.ts';

const DEFAULTS = {
  seed: 1,
  /** Answers by what followed alone. */
  followers: 5,
};

export interface NextStep {
  readonly node: string;
  readonly score: number;
  readonly reason: string;
}

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
  readonly graph: () => TypedGraph;
}

export function createNextMemory({ ports, runs: all, beliefIn, ranker, graph }: NextMemoryParts): NextMemory {
  const multiplier = new WasmMultiplier();
  let whole: { readonly of: readonly unknown[]; readonly runs: readonly LearnableRun[] } | undefined;
  const kept = createStoredModel<NextModel>({
    ports,
    what: 'next steps',
    form: NEXT_FORM,
    runs,
    learn,
    read,
  });
  let last: { readonly of: readonly unknown[]; readonly history: PastSequences } | undefined;

  /** Whole jobs, with what they called themselves; another list whenever there is another run. */
  function runs(): readonly LearnableRun[] {
    const of = [all(), graph(), graph().size.edges];
    if (whole && of.every((each, i) => each === whole!.of[i])) return whole.runs;
    const contains = (capability: string) => containedIn(graph(), capability as NodeId);
    whole = { of, runs: all().flatMap((run) => (run.isSingle ? [] : [withoutChildren(run, contains)])) };
    return whole.runs;
  }

  /** As they were believed before they were looked at in another way. */
  const beliefInWhole = (run: LearnableRun) => beliefIn(originals.get(run) ?? run);

  function learn() {
    const known = ranker()?.candidates;
    return known ? blocksFrom(known) : null;
  }

  function* blocksFrom(known: Candidates) {
    const lesson = {
      candidates: known,
      runs: runs(),
      beliefIn: beliefInWhole,
      multiplier,
      seed: DEFAULTS.seed,
    };
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
      last = { of, history: rememberSequences(known, runs(), beliefInWhole) };
    }
    return last.history;
  }

  return {
    recall: kept.recall,
    reload: kept.reload,
    isDue: kept.isDue,
    refresh: kept.refresh,

    predict(intent, executed) {
      const current = ranker();
      const model = kept.current();
      if (!current || !model || runs().length === 0) return followersIn(runs(), executed);
      const { candidates: known, past } = current;
      const last = executed.at(-1);
      const place = last === undefined ? undefined : known.placeOf(last);
      const isKnownStep = place !== undefined && past.uses.some((uses) => uses.includes(place));
      if (!isKnownStep && current.rank(intent).familiarity === 0) return null;
      return predictNext({ candidates: known, history: history(known, model), model }, intent, executed);
    },
  };
}

/** Runs whose uses were cut, and what they were. */
const originals = new WeakMap<LearnableRun, LearnableRun>();

/** What a capability called is part of it, not what came after it. */
function withoutChildren(
  run: LearnableRun,
  contains: (capability: string) => ReadonlySet<string>,
): LearnableRun {
  if (!run.uses.some((node) => kindOf(node) === 'capability')) return run;
  let inside: ReadonlySet<string> = new Set();
  const uses = run.uses.filter((node) => {
    if (inside.has(node)) return false;
    inside = kindOf(node) === 'capability' ? contains(node) : new Set();
    return true;
  });
  const cut = { ...run, uses };
  originals.set(cut, run);
  return cut;
}

/** What came right after the last step in whole jobs, until a model is learned; null where it was in none. */
function followersIn(runs: readonly LearnableRun[], executed: readonly string[]): NextAnswer[] | null {
  const last = executed.at(-1);
  if (last === undefined) return null;
  const counts = new Map<string, number>();
  let seen = 0;
  for (const { uses, succeeded } of runs) {
    if (!succeeded || !uses.includes(last)) continue;
    seen++;
    const after = new Set(uses.flatMap((node, i) => (node === last ? [uses[i + 1] ?? DONE_NODE] : [])));
    for (const node of after) counts.set(node, (counts.get(node) ?? 0) + 1);
  }
  const total = counts.values().reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  return [...counts]
    .map(([node, count]) => ({ node, score: count / total, reason: followReason(node, last, count, seen) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, DEFAULTS.followers);
}

interface NextParts {
  readonly embedder: Embedder;
  readonly next: Pick<NextMemory, 'predict'>;
  /** What serves where past runs have nothing to say. */
  readonly search: (intent: string) => Promise<readonly SearchHit[]>;
  /** Null: every step may be told. */
  readonly isSeen: ((node: string) => boolean) | null;
}

/** What past runs say comes next, or else what fits the intent and was not done yet. */
export async function predictNextStep(
  { embedder, next, search, isSeen }: NextParts,
  intent: string,
  executed: readonly string[],
): Promise<NextStep[]> {
  const learned = intent.trim() === '' ? null : next.predict(await intentForms(embedder, intent), executed);
  const seen = isSeen ? learned?.filter(({ node }) => isSeen(node)) : learned;
  if (seen && (seen.length > 0 || !isSeen)) return seen;
  const hits = await search(intent);
  return hits
    .filter(({ tool }) => !executed.includes(tool.id))
    .map(({ tool, finalScore }) => ({ node: tool.id, score: finalScore, reason: 'fits the intent' }));
}
