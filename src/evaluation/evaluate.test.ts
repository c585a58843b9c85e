import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { createMemoryEmbedder } from '../../test/memory/embedder.ts';
import { createMemoryVectorIndex } from '../../test/memory/vector-index.ts';
import { proofRuns } from '../../test/proof-count.ts';
import { mean } from '../core/learning/gate/metrics.ts';
import type { EvaluationReport, Gain, Protocol } from '../core/vocabulary/evaluation-report.ts';
import { search } from '../engine/catalogue/search.ts';
import { type DataSet, readDataSet } from './data-set.ts';
import { evaluate } from './evaluate.ts';
import { openWorkbench, weightsFor } from './workbench.ts';

const fixture = (path: string) =>
  fileURLToPath(new URL(`../../test/fixtures/data-sets/${path}`, import.meta.url));
const embedder = createMemoryEmbedder();
const PORTS = { embedder, emptyIndex: () => createMemoryVectorIndex(embedder.dimension) };
const OPTIONS = { protocol: 'id', seed: 1, draws: 0 } as const;

const read = (tasks: 'tasks' | 'traces' = 'tasks', distractors?: string) =>
  readDataSet(fixture('household'), {
    split: 'dev',
    tasks,
    ...(distractors !== undefined && { distractors }),
  });
const widthOf = ({ ci95: [low, high] }: Gain) => high - low;
const withoutTime = ({ seconds, ...rest }: EvaluationReport) => rest;

describe('on a small data set', () => {
  let household: DataSet;
  beforeAll(async () => {
    household = await read();
  });

  const reports = new Map<Protocol, Promise<EvaluationReport>>();
  /** Each protocol is measured once and shared by the tests. */
  const reportOf = (protocol: Protocol): Promise<EvaluationReport> => {
    const known = reports.get(protocol) ?? evaluate(household, { ...OPTIONS, protocol }, PORTS);
    reports.set(protocol, known);
    return known;
  };

  test('[EVAL-1] the report has every part; parts that were not requested are null', async () => {
    const report = await reportOf('id');
    expect(report).toMatchObject({
      dataset: 'household',
      split: 'dev',
      protocol: 'id',
      seed: 1,
      train: 33,
      n: 9,
      overlap: 0,
      tools: 28,
      embedding: 'words/256',
      plan: { node_f1: expect.any(Number), edge_f1: expect.any(Number), exact: expect.any(Number) },
      gate: {
        open: expect.any(Boolean),
        gain: expect.any(Number),
        ci95: [expect.any(Number), expect.any(Number)],
      },
      caution: null,
      curve: null,
    });
    expect(Object.keys(report.gains)).toEqual(['over_semantic', 'over_hybrid', 'over_logistic']);
    expect(Object.keys(report.ranking)).toEqual([
      'lexical',
      'semantic',
      'hybrid',
      'knn',
      'logistic',
      'learned',
    ]);
    expect(Object.keys(report.next!)).toEqual(['popularity', 'markov', 'logistic', 'learned']);
    expect(report.next!.learned?.mrr).toBeGreaterThan(0);
    const parts = [...Object.values(report.ranking), ...Object.values(report.next!), report.plan];
    for (const figures of parts) {
      for (const value of Object.values(figures ?? {})) {
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
      }
    }
    expect(report.seconds).toBeGreaterThan(0);
  });

  test('[EVAL-5] hybrid is the ranking that search serves', async () => {
    const { ranking } = await reportOf('id');
    const bench = await openWorkbench(household, household.test, PORTS);
    const reciprocal = await Promise.all(
      household.test.map(async (task) => {
        const hits = await search(bench.index, bench.embeddings, { query: task.intent, limit: 50 });
        return 1 / (1 + hits.findIndex(({ tool }) => task.tools.includes(tool.id)));
      }),
    );
    expect(ranking.hybrid!.mrr).toBeCloseTo(reciprocal.reduce((sum, value) => sum + value, 0) / 9, 12);
  });

  const protocols: Protocol[] = ['id', 'narrow', 'new-tools', 'disjoint', 'cv5'];
  test.each(protocols.slice(0, proofRuns(protocols.length, 0.4)))(
    '[EVAL-8] %s gives the same figures for the same seed',
    async (protocol) => {
      const report = await reportOf(protocol);
      const again = await evaluate(household, { ...OPTIONS, protocol }, PORTS);
      expect(withoutTime(again)).toEqual(withoutTime(report));
      if (protocol !== 'narrow' && protocol !== 'new-tools')
        expect(report.n).toBe(protocol === 'cv5' ? 42 : 9);
    },
  );

  test('[EVAL-5] past runs help: rankers that learn from them do better than those that do not', async () => {
    const { n, ranking, next } = await reportOf('cv5');
    expect(n).toBe(42);
    expect(ranking.logistic!.ndcg10).toBeGreaterThan(ranking.semantic!.ndcg10);
    expect(next!.logistic!.mrr).toBeGreaterThan(next!.popularity!.mrr);
    expect(next!.learned!.mrr).toBeGreaterThan(next!.popularity!.mrr);
  });

  test('[PLAN-11] plans are nearer to the correct tools than the likeliest tool alone', async () => {
    const { plan, ranking } = await reportOf('cv5');
    const tasks = [...household.train, ...household.test];
    // The F1 of one tool, where it is right, against a task of so many.
    const ofOne = mean(tasks.map(({ tools }) => 2 / (1 + new Set(tools).size)));
    expect(plan!.node_f1).toBeGreaterThan(ranking.learned!.hit1 * ofOne);
    expect(plan!.exact).toBeLessThanOrEqual(Math.min(plan!.node_f1, plan!.edge_f1));
  });

  test('[PLAN-11] where there are too few runs to learn from, plans that are copied or found are reported', async () => {
    const few = { ...household, train: household.train.slice(0, 5) };
    const { plan } = await evaluate(few, OPTIONS, PORTS);
    expect(plan!.node_f1).toBeGreaterThan(0);
    expect(plan!.exact).toBeLessThanOrEqual(Math.min(plan!.node_f1, plan!.edge_f1));
  });

  test('[PLAN-11] where all tasks have parallel calls beside chains, no plan figures are reported', async () => {
    const parallel = household.test.map((task) => ({ ...task, isParallel: true }));
    expect((await evaluate({ ...household, test: parallel }, OPTIONS, PORTS)).plan).toBeNull();
  });

  test('[EVAL-15] narrow reports how confident plans for foreign tasks and opposites were', async () => {
    const { n, train, plan, next, caution } = await reportOf('narrow');
    expect(train).toBe(31);
    expect(plan!.ece).toBeGreaterThanOrEqual(0);
    expect(next).toBeNull();
    // Plans are measured on four times as many pasts as the ranking.
    expect(caution!.plans).toBeGreaterThan(n);
    expect(caution!.plans).toBeLessThanOrEqual(4 * n);
    expect(caution!.longest_plan).toBeGreaterThan(0);
    expect(caution!.opposites!.n).toBe(120);
    for (const { wrong_above_half, would_run, most } of [
      { ...caution!, most: caution!.plans },
      { ...caution!.opposites!, most: 120 },
    ]) {
      for (const count of [wrong_above_half, would_run]) {
        expect(count).toBeGreaterThanOrEqual(0);
        expect(count).toBeLessThanOrEqual(most);
      }
    }
  });

  test('[EVAL-15] new-tools measures only tasks with never-used tools, and no opposites', async () => {
    const { n, ranking, gains, caution } = await reportOf('new-tools');
    expect(caution).toMatchObject({ never_used: { n }, opposites: null });
    expect(caution!.never_used.hybrid_mrr).toBeGreaterThan(0);
    expect(caution!.never_used.hybrid_mrr).toBeLessThanOrEqual(ranking.hybrid!.mrr);
    expect(gains.over_hybrid.mrr.gain).toBeCloseTo(ranking.learned!.mrr - ranking.hybrid!.mrr, 12);
  });

  test('[EVAL-17] measured tasks with exactly the words of a training task are counted', async () => {
    const again = household.train.slice(0, 2).map((task) => ({ ...task, intent: ` ${task.intent}` }));
    const few = { ...household, train: household.train.slice(0, 5), test: [...household.test, ...again] };
    expect(await evaluate(few, OPTIONS, PORTS)).toMatchObject({ n: 11, train: 5, overlap: 2 });
    const apart = await evaluate(few, { ...OPTIONS, protocol: 'disjoint' }, PORTS);
    expect(apart).toMatchObject({ overlap: 0 });
  });

  test('[EVAL-11] tasks of one group are resampled together: duplicates do not make an interval narrower', async () => {
    const few = { ...household, train: household.train.slice(0, 12), test: household.test.slice(0, 4) };
    const groups = few.test.map((task, i) => ({ ...task, group: `g${i}` }));
    const often = Array.from({ length: 5 }, () => groups).flat();
    const [once, repeated] = await Promise.all(
      [groups, often].map((test) => evaluate({ ...few, test }, { ...OPTIONS, draws: 1 }, PORTS)),
    );
    expect(repeated!.n).toBe(20);
    for (const over of ['over_semantic', 'over_hybrid'] as const) {
      expect(widthOf(repeated!.gains[over].mrr)).toBeCloseTo(widthOf(once!.gains[over].mrr), 9);
      expect(widthOf(repeated!.curve!.at(-1)![over])).toBeCloseTo(widthOf(once!.curve!.at(-1)![over]), 9);
    }
    expect(widthOf(once!.gains.over_semantic.mrr)).toBeGreaterThan(0);
  });

  test('[EVAL-1] the curve has a point for each number of past runs; search, which does not learn, stays level', async () => {
    const { curve, ranking, gains } = await evaluate(household, { ...OPTIONS, draws: 1 }, PORTS);
    expect(curve!.map(({ traces }) => traces)).toEqual([0, 30, 33]);
    for (const point of curve!) {
      expect(point.semantic_mrr).toBeCloseTo(ranking.semantic!.mrr, 12);
      expect(point.hybrid_mrr).toBeCloseTo(ranking.hybrid!.mrr, 12);
    }
    const [none, ...later] = curve!;
    expect(none!.learned_mrr).toBe(none!.hybrid_mrr);
    expect(none!.over_hybrid).toEqual({ gain: 0, ci95: [0, 0] });
    for (const point of later) expect(point.over_hybrid.gain).toBeGreaterThan(0);
    expect(later.at(-1)!.over_hybrid).toEqual(gains.over_hybrid.mrr);
  });

  test('[EVAL-18] each point of the curve is the mean over the requested number of draws', async () => {
    const few = { ...household, train: household.train.slice(0, 12) };
    const draws = await Promise.all(
      [1, 2].map((seed) => evaluate(few, { ...OPTIONS, seed, draws: 1 }, PORTS)),
    );
    const { curve } = await evaluate(few, { ...OPTIONS, draws: 2 }, PORTS);
    expect(curve!.length).toBeGreaterThan(0);
    for (const [i, { learned_mrr }] of curve!.entries()) {
      const each = draws.map((report) => report.curve![i]!.learned_mrr);
      expect(learned_mrr).toBeCloseTo((each[0]! + each[1]!) / 2, 12);
    }
  });

  test('[EVAL-11] gains are differences of the figures, within their intervals', async () => {
    const few = { ...household, train: household.train.slice(0, 12) };
    const { ranking, gains } = await evaluate(few, OPTIONS, PORTS);
    for (const other of ['semantic', 'hybrid', 'logistic'] as const) {
      for (const figure of ['mrr', 'ndcg10'] as const) {
        const { gain, ci95 } = gains[`over_${other}`][figure];
        expect(gain).toBeCloseTo(ranking.learned![figure] - ranking[other]![figure], 12);
        expect(gain).toBeGreaterThanOrEqual(ci95[0]);
        expect(gain).toBeLessThanOrEqual(ci95[1]);
      }
    }
  });

  test('[EVAL-10] distractors are ranked with the rest and never correct', async () => {
    const more = await read('tasks', fixture('office.jsonl.gz'));
    const report = await evaluate(more, OPTIONS, PORTS);
    expect(report.tools).toBe(32);
    const { ranking } = await reportOf('id');
    expect(report.ranking.semantic!.mrr).toBeLessThanOrEqual(ranking.semantic!.mrr);
  });

  test('[EVAL-7] the next tool is predicted for recorded runs, repeats included', async () => {
    const { n, next } = await evaluate(await read('traces'), OPTIONS, PORTS);
    expect(n).toBe(9);
    expect(next!.markov!.mrr).toBeGreaterThan(next!.popularity!.mrr);
  });

  test('[EVAL-7] without ordered tasks no next tool is predicted', async () => {
    const sets = (tasks: DataSet['train']) => tasks.map((task) => ({ ...task, isOrdered: false }));
    const unordered = { ...household, train: sets(household.train), test: sets(household.test) };
    expect((await evaluate(unordered, OPTIONS, PORTS)).next).toBeNull();
  });

  test('[EVAL-6] a run is not evidence for itself while weights are learned', async () => {
    // Every training intent is its own group and says nothing about others: a run that saw itself would
    // teach blind trust in past runs, and the measured tasks, whose past is misleading, would get worse.
    const odd = (i: number) => `word${i} thing${i}`;
    const ids = household.tools.map(({ id }) => id);
    const train = Array.from({ length: 20 }, (_, i) => ({
      ...household.train[0]!,
      id: `t${i}`,
      group: `t${i}`,
      intent: `${household.tools[i]!.name} ${odd(i)}`,
      tools: [ids[i]!],
    }));
    const measured = Array.from({ length: 8 }, (_, i) => ({
      ...train[0]!,
      id: `m${i}`,
      group: `m${i}`,
      intent: `${household.tools[20 + i]!.name} ${odd(i)}`,
      tools: [ids[20 + i]!],
    }));
    const { ranking } = await evaluate({ ...household, train, test: measured }, OPTIONS, PORTS);
    expect(ranking.knn!.hit1).toBeLessThan(0.5);
    expect(ranking.logistic!.hit1).toBeGreaterThan(0.8);
  });
});

test('[EVAL-5] a data set that weights were fitted on is measured with weights fitted without it', () => {
  const known = ['livemcp', 'mcpbench', 'toole', 'toollink', 'traject', 'ultratool'];
  for (const name of known) {
    const { whole, clause, lexical } = weightsFor(name);
    expect(whole + clause + lexical).toBeCloseTo(1, 12);
    expect(weightsFor(name)).not.toBe(weightsFor('household'));
  }
});
