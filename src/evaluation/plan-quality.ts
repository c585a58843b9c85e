import { mean } from '../core/learning/metrics.ts';
import { toolWordsOf } from '../core/planning/edge-features.ts';
import { learnPlans } from '../core/planning/learn-plans.ts';
import type { PlannedRun } from '../core/planning/plan-history.ts';
import type { DraftedPlan } from '../core/planning/plan-model.ts';
import type { EvaluationReport } from '../core/vocabulary/evaluation-report.ts';
import type { Task } from './data-set.ts';
import type { Fold } from './folds.ts';
import { driven, formsOf, type School } from './rank-by-model.ts';
import type { Workbench } from './workbench.ts';

const DEFAULTS = {
  /** Of confidence, for the calibration error. */
  bins: 10,
};

/** How near one plan came to what is right. */
interface PlanScore {
  readonly nodeF1: number;
  readonly edgeF1: number;
  /** The same tools and the same edges. */
  readonly isExact: boolean;
  /** The node F1 that the plan itself expects. */
  readonly confidence: number;
}

/** Plans of every measured task, but for parallel calls in a set of chains; null where no plan was learned. */
export function planFigures(school: School, folds: readonly Fold[]): EvaluationReport['plan'] {
  const scores = folds.flatMap((fold) => planScores(school, fold) ?? []);
  if (scores.length === 0) return null;
  return {
    node_f1: mean(scores.map(({ nodeF1 }) => nodeF1)),
    edge_f1: mean(scores.map(({ edgeF1 }) => edgeF1)),
    exact: mean(scores.map(({ isExact }) => Number(isExact))),
    ece: calibrationError(scores),
  };
}

function planScores(school: School, { train, test }: Fold): PlanScore[] | null {
  const { bench, options } = school;
  const { alike, weights, seed } = options;
  const ranker = school.rankerOf(train);
  const words = bench.index.tools.map(toolWordsOf);
  const runs = train
    .map((task) => plannedRun(bench, task, alike(task)))
    .filter(({ uses }) => uses.length > 0);
  const model = driven(learnPlans({ ranker, runs, words, seed, weights }));
  if (!model) return null;
  return test
    .filter(({ isParallel }) => !isParallel)
    .map((task) => {
      const forms = formsOf(bench, task);
      return scoreOf(bench, task, model.draft(forms, school.logitsFor(train, task)));
    });
}

function plannedRun(bench: Workbench, task: Task, key: string): PlannedRun {
  const placeOf = (tool: string) => bench.placesOf({ ...task, tools: [tool] })[0];
  const edges = task.edges.flatMap(([from, to]): [number, number][] => {
    const [a, b] = [placeOf(from), placeOf(to)];
    return a === undefined || b === undefined || a === b ? [] : [[a, b]];
  });
  return { ...formsOf(bench, task), uses: bench.placesOf(task), edges, key };
}

/** Expected calibration error: what plans expect of themselves and what they are, bin by bin of confidence. */
function calibrationError(scores: readonly PlanScore[]): number {
  const binOf = ({ confidence }: PlanScore) =>
    Math.min(DEFAULTS.bins - 1, Math.floor(confidence * DEFAULTS.bins));
  const bins = Map.groupBy(scores, binOf).values();
  const gaps = bins.map((bin) => Math.abs(bin.reduce((sum, each) => sum + each.confidence - each.nodeF1, 0)));
  return gaps.reduce((sum, gap) => sum + gap, 0) / scores.length;
}

/** A tool that counts as a right one is taken for it. */
function scoreOf(bench: Workbench, task: Task, { tools, edges, confidence }: DraftedPlan): PlanScore {
  const right = [...new Set(task.tools)];
  const left = new Map(right.map((tool) => [tool, new Set(bench.acceptedFor(task, tool))]));
  const names = tools.map(({ place }) => {
    const meant = right.find((tool) => left.get(tool)?.has(place));
    if (meant !== undefined) left.delete(meant);
    return meant ?? bench.index.ids[place]!;
  });
  const nameOf = (pair: readonly string[]) => JSON.stringify(pair);
  const made = edges.map(({ from, to }) => nameOf([names[from]!, names[to]!]));
  const given = new Set(task.edges.filter(([from, to]) => from !== to).map(nameOf));
  const nodeF1 = f1(new Set(names), new Set(right));
  const edgeF1 = f1(new Set(made), given);
  return {
    nodeF1,
    edgeF1,
    isExact: nodeF1 === 1 && edgeF1 === 1,
    confidence,
  };
}

/** Two empty sets are the same. */
function f1(made: ReadonlySet<string>, right: ReadonlySet<string>): number {
  const all = made.size + right.size;
  return all === 0 ? 1 : (2 * made.intersection(right).size) / all;
}
