import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const DATA_SETS = fileURLToPath(new URL('../fixtures/data-sets', import.meta.url));
const HOUSEHOLD = join(DATA_SETS, 'household');

async function evaluate(home: string, ...args: string[]) {
  const { code, stdout, stderr } = await runPml(['eval', ...args], { cwd: home, env: { PML_DATA: home } });
  return { code, stderr, stdout };
}

test('[EVAL-1] pml eval measures the built-in model, and the second time reads its vectors from the data dir', async () => {
  const home = await temporaryDir();
  const args = ['--data', HOUSEHOLD, '--distractors', join(DATA_SETS, 'office.jsonl.gz'), '--json'];
  const first = await evaluate(home, ...args);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const report = JSON.parse(first.stdout);
  expect(report).toMatchObject({
    dataset: 'household',
    n: 9,
    tools: 32,
    embedding: 'pml-tools-1/int8',
  });
  expect(report.ranking.hybrid.mrr).toBeGreaterThan(0.7);
  expect(report.ranking.hybrid.mrr).toBeGreaterThan(report.ranking.lexical.mrr);
  const [model] = await readdir(join(home, 'vectors'));
  const files = await readdir(join(home, 'vectors', model!));
  const { seconds: _, ...again } = JSON.parse((await evaluate(home, ...args)).stdout);
  expect(await readdir(join(home, 'vectors', model!))).toEqual(files);
  expect(report).toMatchObject(again);
});

test('[EVAL-2] a folder that does not exist, or holds no data set, fails with what to do', async () => {
  const home = await temporaryDir();
  const missing = await evaluate(home, '--data', join(home, 'nowhere'));
  expect(missing).toMatchObject({ code: 1, stdout: '' });
  expect(missing.stderr).toMatch(/nowhere cannot be read.*\n.*--data/);
  await mkdir(join(home, 'empty'));
  const empty = await evaluate(home, '--data', join(home, 'empty'), '--json');
  expect(empty.code).toBe(1);
  expect(JSON.parse(empty.stdout).error).toMatchObject({
    code: 'not_found',
    hint: expect.stringContaining('tools.jsonl'),
  });
  const noFile = await evaluate(home, '--data', HOUSEHOLD, '--test', join(home, 'no.jsonl'));
  expect(noFile).toMatchObject({ code: 1, stderr: expect.stringMatching(/no\.jsonl cannot be read/) });
});

test('[EVAL-17] stderr says when tasks are measured that were learned from', async () => {
  const home = await temporaryDir();
  const dev = join(HOUSEHOLD, 'tasks.dev.jsonl');
  const { code, stdout, stderr } = await evaluate(home, '--data', HOUSEHOLD, '--train', dev, '--json');
  expect(code).toBe(0);
  expect(stderr).toBe('household: 9 of 9 test tasks were also in the training set, word for word\n');
  expect(JSON.parse(stdout)).toMatchObject({ train: 9, n: 9, overlap: 9 });
});

test('[EVAL-1] a folder of data sets gives one report for each', async () => {
  const home = await temporaryDir();
  const { code, stdout } = await evaluate(home, '--data', DATA_SETS, '--protocol', 'disjoint');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^household \(dev, disjoint\): 9 tasks after \d+, 28 tools/);
  expect(stdout).toMatch(/^hybrid +\d\.\d{3}/m);
});
