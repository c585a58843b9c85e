import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import { type CandidateEntry, Candidates, type IntentForms } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun, Probe } from '../../core/learning/ranker/learn-ranker.ts';
import type { ParamsBlock } from '../../core/learning/ranker/params-file.ts';
import type { Ranker } from '../../core/learning/ranker/ranker.ts';
import { draftPlan, type GroundedPlan, judgePlans } from '../../core/planning/draft/draft-plan.ts';
import {
  createEdgeTexts,
  type EdgeTexts,
  type ToolWords,
  toolWordsOf,
} from '../../core/planning/draft/edge-features.ts';
import { learnPlans } from '../../core/planning/draft/learn-plans.ts';
import { type PlacePair, PlanHistory, type PlannedRun } from '../../core/planning/draft/plan-history.ts';
import { PLAN_FORM, planBlocks, planNetsOf } from '../../core/planning/draft/plan-model.ts';
import { type PlanOutcome, PlanRecord } from '../../core/planning/draft/plan-record.ts';
import { doubtTools, type PlanReasons, planReasons } from '../../core/planning/draft/review-draft.ts';
import { replayPlans } from '../../core/planning/draft/unlearned-plans.ts';
import { toolWords, words } from '../../core/retrieval/words.ts';
import type { EdgeType } from '../../core/vocabulary/edge.ts';
import { capabilityNode, kindOf, type NodeId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Capability, Embedder } from '../ports.ts';
import { createStoredModel, type StoredModel, type StoredModelPorts, storedParams } from './stored-model.ts';
import type { TakenOut } from './suggestion-log.ts';

const DEFAULTS = {
  seed: 1,
};

/** A plan by place among candidates, with what they are and why they are in it. */
export interface RecalledPlan extends GroundedPlan {
  readonly candidates: Candidates;
  readonly reasons: PlanReasons;
}

/** What past runs say of whole plans. */
export interface PlanMemory extends Omit<StoredModel<unknown>, 'current'> {
  /** Empty where neither a past run nor the text of a tool has anything to say. */
  draft(query: IntentForms, isOffered: (tool: string) => boolean): RecalledPlan;
  /** A run that is not among the past ones yet shows what plans for it would have been worth. */
  judge(run: LearnableRun): Promise<void>;
}

export interface PlanMemoryParts {
  readonly ports: StoredModelPorts;
  /** The newest runs, oldest first; another list whenever there is another run. */
  readonly runs: () => readonly LearnableRun[];
  /** Null while nothing was learned. */
  readonly ranker: () => Ranker | null;
  /** A ranker that has not seen all of the runs; absent, or null: there is none. */
  readonly probe?: () => Probe | null;
  readonly graph: () => TypedGraph;
  readonly catalogue: () => Catalogue;
  /** What people took out of suggestions; absent: nothing. */
  readonly takenOut?: () => readonly TakenOut[];
}

interface Recalled {
  readonly candidates: Candidates;
  readonly texts: EdgeTexts;
  readonly history: PlanHistory;
  /** By key: the share of its runs that is to be expected to succeed. */
  readonly trustIn: (key: string) => number;
}

export function createPlanMemory(parts: PlanMemoryParts): PlanMemory {
  const { ports, runs, ranker, probe = () => null, graph, catalogue, takenOut = () => [] } = parts;
  const { embedder } = ports;
  const kept = createStoredModel({
    ports,
    what: 'plans',
    form: PLAN_FORM,
    runs,
    learn,
    read: (values) => planNetsOf(values, embedder.dimension),
  });
  const keptRecord = storedParams(ports, `plan outcomes by ${embedder.model}`, 1);
  /** Null until it was read, or worked out from the runs there are. */
  let record: PlanRecord | null = null;
  let reading: Promise<void> | null = null;
  let own: { of: Catalogue; candidates: Candidates } | undefined;
  let last: { of: readonly unknown[]; recalled: Recalled } | undefined;

  /** The ranker's, so that places mean the same; of the catalogue until there is one. */
  function candidates(): Candidates {
    const ranked = ranker()?.candidates;
    if (ranked) return ranked;
    const of = catalogue();
    if (own?.of !== of) own = { of, candidates: new Candidates(toolEntries(of), [], embedder.dimension, of) };
    return own.candidates;
  }

  /** Made once per state of what it is made of. */
  function recalled(): Recalled {
    const known = candidates();
    const past = runs();
    // What waited for what comes from the edges that were seen, which may come a little after the run.
    const of = [known, past, graph(), graph().size.nonTemplateEdges];
    if (last && of.every((each, i) => each === last!.of[i])) return last.recalled;
    const whole = wholeRuns(past);
    const planned = whole.flatMap((run) => plannedRun(run, known, graph()) ?? []);
    const history = new PlanHistory(planned, known.size, known.vectors.columns);
    const texts = last?.of[0] === known ? last.recalled.texts : createEdgeTexts(known, wordsOf(known));
    last = { of, recalled: { candidates: known, texts, history, trustIn: trustOf(whole) } };
    return last.recalled;
  }

  function wordsOf({ ids }: Candidates): ToolWords[] {
    const nothing = { name: '', inputSchema: {} };
    return ids.map((id) => toolWordsOf(catalogue().get(id as ToolId)?.tool ?? nothing));
  }

  function recordSoFar(): PlanRecord {
    record ??= replayPlans(recalled());
    return record;
  }

  function readRecord(): Promise<void> {
    reading ??= (async () => {
      const [stored] = await keptRecord.newest(1);
      if (stored && !record) record = readOutcomes(stored.metrics.outcomes);
    })().catch((error: unknown) => {
      reading = null;
      ports.logger.log('warn', 'The outcomes of plans cannot be read now', { error: String(error) });
    });
    return reading;
  }

  function learn() {
    const current = ranker();
    return current && blocksFrom(current);
  }

  function* blocksFrom(current: Ranker): Generator<void, ParamsBlock[] | null> {
    const { history, texts } = recalled();
    const model = yield* learnPlans({
      ranker: current,
      runs: history.runs,
      words: texts.words,
      seed: DEFAULTS.seed,
      probe: probe(),
    });
    if (!model) return null;
    // Until the ranker is trained here, what was found before holds.
    const calibration = model.nets.calibration ?? kept.current()?.calibration ?? null;
    return planBlocks({ ...model.nets, calibration });
  }

  return {
    async recall() {
      await kept.recall();
      await readRecord();
    },
    reload: kept.reload,
    isDue: kept.isDue,
    refresh: kept.refresh,

    draft(query, isOffered) {
      const past = recalled();
      const { candidates: known, history } = past;
      const drafted = draftPlan(
        { ...past, ranker: ranker(), nets: kept.current(), record: recordSoFar() },
        query,
      );
      const removals = takenOut().map(({ intent, tools }) => ({
        intent,
        places: new Set(known.placesOf(tools)),
      }));
      const doubted = doubtTools(drafted, query.intent, history, removals);
      const view = history.without(null);
      // A reason names only tools that the caller has.
      const named = doubted.tools.filter(({ place }) => isOffered(known.ids[place]!));
      const reasons = planReasons(known, named, history.cosines(query.intent), view);
      return { ...drafted, ...doubted, candidates: known, reasons };
    },

    async judge(run) {
      await kept.recall();
      await readRecord();
      const past = recalled();
      const planned = plannedRun(run, past.candidates, graph());
      const before = recordSoFar();
      const outcome =
        planned && judgePlans({ ...past, ranker: ranker(), nets: kept.current(), record: before }, planned);
      if (!outcome) return;
      record = before.with(outcome);
      await keptRecord.keep(new Uint8Array(), { outcomes: record.outcomes });
    },
  };
}

/** As the store gave it back; null where it is of another form: it is worked out again then. */
function readOutcomes(stored: unknown): PlanRecord | null {
  const isOutcome = (each: Partial<PlanOutcome> | null) =>
    typeof each?.closeness === 'number' && typeof each.copied === 'number' && 'byChance' in each;
  return Array.isArray(stored) && stored.every(isOutcome) ? new PlanRecord(stored as PlanOutcome[]) : null;
}

/**
 * What was rejected or failed since it succeeded is suggested with less confidence, what went well again
 * with more: the mean of a prior of three successes in four and the runs there were.
 */
export function trustOf(runs: readonly LearnableRun[]): (key: string) => number {
  const counts = new Map<string, { good: number; all: number }>();
  for (const { key, succeeded } of runs) {
    const { good, all } = counts.get(key) ?? { good: 0, all: 0 };
    counts.set(key, { good: good + Number(succeeded), all: all + 1 });
  }
  return (key) => {
    const { good, all } = counts.get(key) ?? { good: 0, all: 0 };
    return (good + 3) / (all + 4);
  };
}

/**
 * A run as plans are learned from it: its tools that are still there, and what each waited for. Which of
 * the tools before it that was, the graph tells: those that gave it a value or were needed by a plan, else
 * the last one it was seen to follow. Null for a run that failed, or whose tools are gone.
 */
function plannedRun(run: LearnableRun, candidates: Candidates, graph: TypedGraph): PlannedRun | null {
  if (!run.succeeded) return null;
  const nodes = [...new Set(run.uses)].filter((id) => kindOf(id) === 'tool') as NodeId[];
  const uses = candidates.placesOf(nodes);
  if (uses.length === 0) return null;
  const known = uses.map((place) => candidates.ids[place] as NodeId);
  const isSeen = (from: NodeId, to: NodeId, type: EdgeType) =>
    (graph.edge(from, to, type)?.observedCount ?? 0) > 0;
  const edges = known.flatMap((to, i): PlacePair[] => {
    const before = known.slice(0, i);
    const needed = before.filter((from) => isSeen(from, to, 'provides') || isSeen(from, to, 'dependency'));
    const followed = before.findLast((from) => isSeen(from, to, 'sequence'));
    const all = needed.length > 0 ? needed : followed === undefined ? [] : [followed];
    return all.map((from) => [candidates.placeOf(from)!, uses[i]!]);
  });
  return { ...run, uses, edges };
}

/**
 * Runs as they were from beginning to end: one that waited for a person left a trace each time, with the
 * calls of that time. It used all of them, and how it ended is told by the last.
 */
function wholeRuns(runs: readonly LearnableRun[]): LearnableRun[] {
  const whole = new Map<string | number, LearnableRun>();
  for (const [i, run] of runs.entries()) {
    const id = run.runId ?? i;
    const before = whole.get(id);
    // In the place of its end.
    whole.delete(id);
    whole.set(id, before ? { ...run, uses: [...before.uses, ...run.uses] } : run);
  }
  return [...whole.values()];
}

/** The tools of the catalogue, as the ranker compares them. */
export function toolEntries({ tools, vectors }: Catalogue): CandidateEntry[] {
  return tools.map((tool) => ({
    id: tool.id,
    server: tool.server,
    name: tool.name,
    description: tool.description,
    words: toolWords(tool),
    vector: vectors.get(tool.id) ?? null,
  }));
}

/** The capabilities that can be called. */
export async function capabilityEntries(
  capabilities: readonly Capability[],
  embedder: Pick<Embedder, 'embed'>,
): Promise<CandidateEntry[]> {
  const active = capabilities.filter(({ state }) => state === 'active');
  const texts = active.map(({ slug, description }) => `${slug} ${description}`);
  const vectors = await embedder.embed(texts);
  return active.map(({ id, slug }, i) => ({
    id: capabilityNode(id),
    server: '',
    name: slug,
    words: [...words(slug), ...words(texts[i]!)],
    vector: vectors[i]!,
  }));
}
