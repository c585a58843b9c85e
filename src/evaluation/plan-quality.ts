import { mean } from '../core/learning/gate/metrics.ts';
import { probeLearning } from '../core/learning/ranker/learn-ranker.ts';
import { draftWithSigns, type PlanningPast } from '../core/planning/draft/draft-plan.ts';
import { createEdgeTexts, toolWordsOf } from '../core/planning/draft/edge-features.ts';
import { learnPlans } from '../core/planning/draft/learn-plans.ts';
import { PlanHistory, type PlannedRun } from '../core/planning/draft/plan-history.ts';
import type { PlanSigns } from '../core/planning/draft/plan-record.ts';
import { replayPlans } from '../core/planning/draft/unlearned-plans.ts';
import type { EvaluationReport } from '../core/vocabulary/evaluation-report.ts';
import { trustOf } from '../engine/learning/plan-memory.ts';
import type { Task } from './data-set.ts';
import type { Fold } from './folds.ts';
import { driven, formsOf, type School } from './rank-by-model.ts';
import type { Workbench } from './workbench.ts';

/** A plan as the gateway would suggest it. */
interface Draft {
  /** Indices of tools; a tool that is used twice is listed twice. */
  readonly tools: readonly number[];
  /** By index in `tools`. */
  readonly edges: readonly { readonly from: number; readonly to: number }[];
  /** The node F1 that the plan predicts for itself. */
  readonly confidence: number;
  /** Number of near past runs that used all of its tools. */
  readonly support: number;
  /** What its confidence is calibrated by; null where it is not made of runs. */
  readonly signs: PlanSigns | null;
}

/** Drafts plans for intents after some past runs, with the serving code; learns from the same runs only once. */
type DraftPlan = (train: readonly Task[], task: Task) => Promise<Draft>;

const DEFAULTS = {
  /** Confidence bins of the calibration error. */
  bins: 10,
};

/** A plan, and how close it is to the correct one. */
export interface ScoredPlan extends Draft {
  readonly nodeF1: number;
  readonly edgeF1: number;
  /** The same tools and the same edges. */
  readonly isExact: boolean;
}

/** Plans of every measured task, except parallel calls in a set of chains. */
export async function scorePlans(
  bench: Workbench,
  draftPlan: DraftPlan,
  folds: readonly Fold[],
): Promise<ScoredPlan[]> {
  const scored: ScoredPlan[] = [];
  for (const { train, test } of folds) {
    for (const task of test.filter(({ isParallel }) => !isParallel)) {
      scored.push(scoreOf(bench, task, await draftPlan(train, task)));
    }
  }
  return scored;
}

/** Null if no task needs a plan. */
export function planFigures(plans: readonly ScoredPlan[]): EvaluationReport['plan'] {
  if (plans.length === 0) return null;
  return {
    node_f1: mean(plans.map(({ nodeF1 }) => nodeF1)),
    edge_f1: mean(plans.map(({ edgeF1 }) => edgeF1)),
    exact: mean(plans.map(({ isExact }) => Number(isExact))),
    ece: calibrationError(plans),
  };
}

/** Expected calibration error: difference of confidence and F1, by bins of confidence. */
function calibrationError(plans: readonly ScoredPlan[]): number {
  const binOf = ({ confidence }: ScoredPlan) =>
    Math.min(DEFAULTS.bins - 1, Math.floor(confidence * DEFAULTS.bins));
  const bins = Map.groupBy(plans, binOf).values();
  const gaps = bins.map((bin) => Math.abs(bin.reduce((sum, each) => sum + each.confidence - each.nodeF1, 0)));
  return gaps.reduce((sum, gap) => sum + gap, 0) / plans.length;
}

/** A tool that counts as a correct one is treated as that one. */
function scoreOf(bench: Workbench, task: Task, draft: Draft): ScoredPlan {
  const right = [...new Set(task.tools)];
  const left = new Map(right.map((tool) => [tool, new Set(bench.acceptedFor(task, tool))]));
  const meantBy = new Map<number, string>();
  for (const place of new Set(draft.tools)) {
    const meant = right.find((tool) => left.get(tool)?.has(place));
    if (meant !== undefined) left.delete(meant);
    meantBy.set(place, meant ?? bench.index.ids[place]!);
  }
  const names = draft.tools.map((place) => meantBy.get(place)!);
  const nameOf = (pair: readonly string[]) => JSON.stringify(pair);
  const made = draft.edges.map(({ from, to }) => nameOf([names[from]!, names[to]!]));
  const given = new Set(task.edges.filter(([from, to]) => from !== to).map(nameOf));
  const nodeF1 = f1(new Set(names), new Set(right));
  const edgeF1 = f1(new Set(made), given);
  return { ...draft, nodeF1, edgeF1, isExact: nodeF1 === 1 && edgeF1 === 1 };
}

/** 1 for two empty sets. */
export function f1(made: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const all = made.size + right.size;
  return all === 0 ? 1 : (2 * made.intersection(right).size) / all;
}

export function createDrafter(school: School): DraftPlan {
  const { bench, options, candidates } = school;
  const pasts = new Map<readonly Task[], PlanningPast>();
  const words = bench.index.tools.map(toolWordsOf);

  function pastOf(train: readonly Task[]): PlanningPast {
    const known = pasts.get(train) ?? remember(train);
    pasts.set(train, known);
    return known;
  }

  function remember(train: readonly Task[]): PlanningPast {
    const runs = train
      .map((task) => plannedRun(bench, task, options.alike(task)))
      .filter(({ uses }) => uses.length > 0);
    const { seed, weights, textChances, planWorth } = options;
    const ranker = school.rankerOf(train);
    const probe = driven(probeLearning(school.lesson(train)));
    const chances = { ...(textChances && { textChances }), ...(planWorth && { planWorth }) };
    const model = driven(learnPlans({ ranker, runs, words, seed, weights, probe, ...chances }));
    const history = model?.history ?? new PlanHistory(runs, candidates.size, candidates.vectors.columns);
    return {
      candidates,
      history,
      record: replayPlans({ candidates, history, ...chances }),
      texts: model?.texts ?? createEdgeTexts(candidates, words),
      ranker,
      nets: model?.nets ?? null,
      trustIn: trustOf(school.lesson(train).runs),
      ...chances,
    };
  }

  return async (train, task) => {
    const { plan, signs } = draftWithSigns(pastOf(train), formsOf(bench, task));
    const { tools, edges, confidence, support } = plan;
    return { tools: tools.map(({ place }) => place), edges, confidence, support, signs };
  };
}

function plannedRun(bench: Workbench, task: Task, key: string): PlannedRun {
  const placeOf = (tool: string) => bench.placesOf({ ...task, tools: [tool] })[0];
  const edges = task.edges.flatMap(([from, to]): [number, number][] => {
    const [a, b] = [placeOf(from), placeOf(to)];
    return a === undefined || b === undefined || a === b ? [] : [[a, b]];
  });
  return { ...formsOf(bench, task), uses: bench.placesOf(task), edges, key };
}
