import { expect, test } from 'vitest';
import { runCommand } from '../../../../test/support/command-line.ts';
import type { EvaluationReport } from '../../../core/vocabulary/evaluation-report.ts';
import type { StreamReport } from '../../../core/vocabulary/stream-report.ts';
import type { EvaluateOptions, StreamOptions } from '../system.ts';

const figures = { mrr: 0.5, hit1: 0.25, hit3: 0.75, recall5: 0.6, ndcg10: 0.55 };
const gain = { gain: 0.05, ci95: [-0.01, 0.11] } as const;
const gains = { mrr: gain, ndcg10: gain };
const report: EvaluationReport = {
  dataset: 'household',
  split: 'dev',
  protocol: 'cv5',
  seed: 3,
  train: 34,
  n: 42,
  overlap: 0,
  tools: 28,
  embedding: 'some-model',
  ranking: { lexical: figures, semantic: figures, hybrid: figures, knn: null, logistic: null, learned: null },
  gains: { over_semantic: gains, over_hybrid: gains, over_logistic: gains },
  next: { popularity: figures, markov: figures, logistic: null, learned: null },
  plan: null,
  caution: null,
  gate: null,
  curve: [
    {
      ...{ traces: 30, semantic_mrr: 0.4, hybrid_mrr: 0.5, learned_mrr: 0.55 },
      ...{ over_semantic: gain, over_hybrid: gain },
    },
  ],
  seconds: 1.25,
};

function measuring(reports: readonly EvaluationReport[] = [report]) {
  const asked: EvaluateOptions[] = [];
  const evaluate = async (options: EvaluateOptions) => {
    asked.push(options);
    return [...reports];
  };
  return { asked, system: { evaluate } };
}

test('[EVAL-1] --json prints the report, or a list for several data sets; otherwise tables are printed', async () => {
  const argv = ['eval', '--data', 'data/household', '--protocol', 'cv5'];
  expect(JSON.parse((await runCommand([...argv, '--json'], measuring().system)).out)).toEqual(report);
  const two = await runCommand([...argv, '--json'], measuring([report, report]).system);
  expect(JSON.parse(two.out)).toEqual([report, report]);
  const { code, out } = await runCommand(argv, measuring().system);
  expect(code).toBe(0);
  expect(out).toContain('household (dev, cv5): 42 tasks after 34, 28 tools, some-model, seed 3, 1.3 s');
  expect(out).toMatch(/^hybrid {4}0\.500 {2}0\.250 {2}0\.750 {2}0\.600 {4}0\.550$/m);
  expect(out).toMatch(/^markov {6}0\.250 {2}0\.750 {2}0\.500$/m);
  expect(out).toMatch(/^30 +0\.400 +0\.500 +0\.550 +\+0\.050 \(-0\.010 to \+0\.110\)$/m);
  expect(out).not.toContain('knn');
});

test('[EVAL-15] the results of far plans are a separate table', async () => {
  const argv = ['eval', '--data', 'd', '--protocol', 'narrow'];
  const caution = {
    ...{ plans: 400, wrong_above_half: 12, would_run: 1, longest_plan: 9 },
    opposites: { n: 120, wrong_above_half: 7, would_run: 2 },
    never_used: { n: 55, learned_mrr: 0.61, hybrid_mrr: 0.6 },
  };
  const { out } = await runCommand(argv, measuring([{ ...report, protocol: 'narrow', caution }]).system);
  expect(out).toMatch(/^far plans +400 +12 +1 +9$/m);
  expect(out).toMatch(/^opposites +120 +7 +2 *$/m);
  expect(out).toMatch(/^tools +55 +0\.610 +0\.600$/m);
  const newTools = measuring([{ ...report, caution: { ...caution, opposites: null } }]);
  expect((await runCommand(argv, newTools.system)).out).not.toContain('opposites');
  expect((await runCommand(argv, measuring().system)).out).not.toContain('far plans');
});

test('[EVAL-17] stderr says how many measured tasks were learned from word for word', async () => {
  const argv = ['eval', '--data', 'd', '--json'];
  const { out, err } = await runCommand(argv, measuring([{ ...report, overlap: 4 }]).system);
  expect(err).toBe('household: 4 of 42 test tasks were also in the training set, word for word\n');
  expect(JSON.parse(out)).toMatchObject({ overlap: 4 });
  expect((await runCommand(argv, measuring().system)).err).toBe('');
});

test('[EVAL-1] every option reaches the measurement; --data names the data set', async () => {
  const { asked, system } = measuring();
  await runCommand(['eval', '--data', 'd'], system);
  const files = ['--distractors', 'x.gz', '--train', 'a', '--test', 'b'];
  const more = [
    '--split',
    'test',
    '--tasks',
    'traces',
    '--protocol',
    'disjoint',
    '--curve',
    '--draws',
    '5',
    '--seed',
    '-3',
  ];
  await runCommand(['eval', '--data', 'd', '--config', 'c', ...files, ...more], system);
  expect(asked).toEqual([
    { data: 'd', split: 'dev', tasks: 'tasks', protocol: 'id', draws: 1, seed: 1 },
    {
      data: 'd',
      config: 'c',
      split: 'test',
      tasks: 'traces',
      protocol: 'disjoint',
      distractors: 'x.gz',
      train: 'a',
      test: 'b',
      curve: true,
      draws: 5,
      seed: -3,
    },
  ]);
});

test('[EVAL-19] a stream is printed in windows of runs; --pause is reported', async () => {
  const shared = { mrr: 0.9, hybrid_mrr: 0.8, plan_f1: 0.95, copying_f1: 0.85, routine_f1: 0.5, routines: 3 };
  const windows = [
    { from: 1, to: 10, n: 4, ...shared, arguments_right: null, gate_open: false },
    { from: 11, to: 30, n: 15, ...shared, arguments_right: 0.25, gate_open: true },
  ];
  const stream: StreamReport = {
    ...{ dataset: 'household', protocol: 'stream', seed: 1, pause_ms: 0, jobs: 12, n: 30, tools: 28 },
    ...{ embedding: 'some-model', windows, seconds: 2 },
  };
  const asked: StreamOptions[] = [];
  const system = {
    stream: async (options: StreamOptions) => {
      asked.push(options);
      return [stream];
    },
  };
  const argv = ['eval', '--data', 'd', '--protocol', 'stream', '--pause', '0'];
  const { out } = await runCommand(argv, system);
  expect(out).toContain(
    'household (stream, 0 ms between runs): 30 runs of 12 jobs, 28 tools, some-model, seed 1',
  );
  expect(out).toMatch(/^11-30 +15 +0\.900 +0\.800 +0\.950 +0\.850 +0\.500 +0\.250 +open$/m);
  expect(JSON.parse((await runCommand([...argv, '--json'], system)).out)).toEqual(stream);
  expect(asked[0]).toMatchObject({ data: 'd', pause: 0, seed: 1 });
});

test.each([
  [['eval'], /--data/],
  [['eval', '--data', 'd', '--pause', '5'], /only for --protocol stream/],
  [['eval', '--data', 'd', '--protocol', 'stream', '--pause', '-1'], /0 or more/],
  [['eval', '--data', 'd', '--protocol', 'cv7'], /id, disjoint, cv5, narrow, new-tools, stream/],
  [['eval', '--data', 'd', '--tasks', 'all'], /tasks, traces/],
  [['eval', '--data', 'd', '--seed', 'x'], /whole number/],
  [['eval', '--data', 'd', '--curve', '--draws', '0'], /1 or more/],
])('[EVAL-1] %j is wrong usage', async (argv, message) => {
  const { code, err } = await runCommand(argv, measuring().system);
  expect(code).toBe(2);
  expect(err).toMatch(message);
});
