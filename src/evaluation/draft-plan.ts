import { copyNearestRun } from '../core/planning/copy-run.ts';
import { toolWordsOf } from '../core/planning/edge-features.ts';
import { learnPlans } from '../core/planning/learn-plans.ts';
import { PlanHistory, type PlannedRun } from '../core/planning/plan-history.ts';
import type { DraftedPlan, PlanModel } from '../core/planning/plan-model.ts';
import { supportOf, trustOf } from '../engine/learning/plan-memory.ts';
import { search } from '../engine/search.ts';
import { fromSearch } from '../engine/suggest.ts';
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

interface Memory {
  readonly history: PlanHistory;
  /** Null where there are too few runs. */
  readonly model: PlanModel | null;
  readonly trustIn: (key: string) => number;
}

export function createDrafter(school: School): DraftPlan {
  const { bench, options } = school;
  const memories = new Map<readonly Task[], Memory>();

  function memoryOf(train: readonly Task[]): Memory {
    const known = memories.get(train) ?? remember(train);
    memories.set(train, known);
    return known;
  }

  function remember(train: readonly Task[]): Memory {
    const { candidates } = school;
    const runs = train
      .map((task) => plannedRun(bench, task, options.alike(task)))
      .filter(({ uses }) => uses.length > 0);
    const words = bench.index.tools.map(toolWordsOf);
    const { seed, weights } = options;
    return {
      history: new PlanHistory(runs, candidates.size, candidates.vectors.columns),
      model: driven(learnPlans({ ranker: school.rankerOf(train), runs, words, seed, weights })),
      trustIn: trustOf(school.lesson(train).runs),
    };
  }

  return async (train, task) => {
    const { history, model, trustIn } = memoryOf(train);
    const query = formsOf(bench, task);
    const drafted: DraftedPlan | null = model
      ? model.draft(query, school.logitsFor(train, task))
      : copyNearestRun(history, query, trustIn);
    if (drafted) {
      const { edges, confidence } = drafted;
      const tools = drafted.tools.map(({ place }) => place);
      return { tools, edges, confidence, support: supportOf(drafted, query, history) };
    }
    const hits = await search(bench.index, bench.book, { query: task.intent });
    const { sketch, confidence, support } = fromSearch(task.intent, hits);
    const tools = school.candidates.placesOf(sketch.tasks.map(({ node }) => node));
    return { tools, edges: [], confidence, support };
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
