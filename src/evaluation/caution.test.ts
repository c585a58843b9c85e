import { expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../test/memory/embedder.ts';
import { createMemoryVectorIndex } from '../../test/memory/vector-index.ts';
import { cautionOf, rankNeverUsed, WRITTEN_TOOLS } from './caution.ts';
import type { Task } from './data-set.ts';
import type { ScoredPlan } from './plan-quality.ts';
import { openWorkbench } from './workbench.ts';
import { WRITTEN_JOBS } from './written-opposites.ts';

const NEVER_USED = { n: 0, learned_mrr: 0, hybrid_mrr: 0 };
const plan = (nodeF1: number, confidence: number, support: number, length = 1): ScoredPlan => ({
  tools: Array.from({ length }, (_, i) => i),
  ...{ edges: [], confidence, support, nodeF1, edgeF1: 1, isExact: nodeF1 === 1, signs: null },
});

test('[EVAL-15] a plan with F1 below half is wrong, one with confidence above half is sure; empty plans do not count', () => {
  const plans = [
    plan(0.49, 0.51, 0),
    plan(0.49, 0.5, 0),
    plan(0.5, 0.8, 0, 7),
    plan(0, 0.8, 0, 3),
    plan(0, 1, 9, 0),
  ];
  expect(cautionOf(plans, NEVER_USED, null)).toEqual({
    plans: 4,
    wrong_above_half: 2,
    would_run: 0,
    longest_plan: 7,
    opposites: null,
    never_used: NEVER_USED,
  });
});

test('[EVAL-15] right or wrong, a plan would run from a confidence of .9 on with the support of two runs', () => {
  const plans = [plan(1, 0.9, 2), plan(0, 0.95, 5, 2), plan(1, 0.89, 5), plan(1, 0.99, 1)];
  expect(cautionOf(plans, NEVER_USED, null)).toMatchObject({ would_run: 2, wrong_above_half: 1 });
});

test('[EVAL-15] for a task with never-used tools, the first of these counts', async () => {
  const embedder = createMemoryEmbedder();
  const ids = WRITTEN_TOOLS.map(({ id }): string => id);
  const task = (id: string, tools: readonly string[], alternatives = {}): Task => ({
    ...{ id, intent: id, group: id, isOrdered: true, edges: [], isParallel: false },
    tools,
    alternatives,
  });
  const [used, other, fresh] = ids as [string, string, string];
  const train = [task('past', [used])];
  const tasks = [
    task('known', [used]),
    task('half new', [used, fresh]),
    task('new', [other, fresh]),
    task('as good as known', [fresh], { [fresh]: [used] }),
  ];
  const data = { name: 'x', split: 'dev', tools: WRITTEN_TOOLS, train, test: tasks, isRecorded: false };
  const bench = await openWorkbench(data, tasks, {
    embedder,
    emptyIndex: () => createMemoryVectorIndex(embedder.dimension),
  });
  const ranks = { learned: [[1], [1, 4], [5, 2], [3]], hybrid: [[1], [1, 2], [1, 2], [3]] };
  expect(rankNeverUsed(bench, [{ train, test: tasks }], ranks)).toEqual({
    n: 2,
    learned_mrr: (1 / 4 + 1 / 2) / 2,
    hybrid_mrr: (1 / 2 + 1) / 2,
  });
});

test('[EVAL-15] the written opposites name existing tools, never the one of the job, and have no duplicates', () => {
  const known = new Set<string>(WRITTEN_TOOLS.map(({ id }) => id));
  expect(WRITTEN_JOBS).toHaveLength(6);
  for (const { tool, past, opposites } of WRITTEN_JOBS) {
    expect(past.length).toBeGreaterThanOrEqual(5);
    expect(opposites).toHaveLength(20);
    expect(known).toContain(tool);
    for (const [, ...tools] of opposites) {
      expect(tools).not.toContain(tool);
      for (const each of tools) expect(known).toContain(each);
    }
  }
  const intents = WRITTEN_JOBS.flatMap(({ past, opposites }) => [
    ...past,
    ...opposites.map(([text]) => text),
  ]);
  expect(new Set(intents).size).toBe(intents.length);
});
