import { draftPlan, type PlanningPast } from '../core/planning/draft/draft-plan.ts';
import { createEdgeTexts, toolWordsOf } from '../core/planning/draft/edge-features.ts';
import { learnPlans } from '../core/planning/draft/learn-plans.ts';
import { PlanHistory, type PlannedRun } from '../core/planning/draft/plan-history.ts';
import { trustOf } from '../engine/learning/plan-memory.ts';
import type { Task } from './data-set.ts';
import { driven, formsOf, type School } from './rank-by-model.ts';
import type { Workbench } from './workbench.ts';

/** A plan as the gateway would suggest it. */
export interface Draft {
  /** Places among all tools; one that is used again stands there again. */
  readonly tools: readonly number[];
  /** By place in `tools`. */
  readonly edges: readonly { readonly from: number; readonly to: number }[];
  /** The node F1 that the plan itself expects. */
  readonly confidence: number;
  /** Near past runs that used all of its tools. */
  readonly support: number;
}

/** Drafts plans for intents after some past runs, with the code that serves; learns from the same runs once. */
export type DraftPlan = (train: readonly Task[], task: Task) => Promise<Draft>;

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
    const { seed, weights, textChances } = options;
    const ranker = school.rankerOf(train);
    const model = driven(learnPlans({ ranker, runs, words, seed, weights }));
    return {
      candidates,
      history: model?.history ?? new PlanHistory(runs, candidates.size, candidates.vectors.columns),
      texts: model?.texts ?? createEdgeTexts(candidates, words),
      ranker,
      nets: model?.nets ?? null,
      trustIn: trustOf(school.lesson(train).runs),
      ...(textChances && { textChances }),
    };
  }

  return async (train, task) => {
    const { tools, edges, confidence, support } = draftPlan(pastOf(train), formsOf(bench, task));
    return { tools: tools.map(({ place }) => place), edges, confidence, support };
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
