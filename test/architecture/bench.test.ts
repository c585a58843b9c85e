import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { treeOf } from './tree-of.ts';

const SCRIPT = fileURLToPath(new URL('../../bench/run.ts', import.meta.url));

const runBench = (...args: string[]) => spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });

/** A bench whose one row is the process it ran in. */
const reportingPid = (name: string) => `
  console.log('noise');
  export const bench = async () => ({
    name: '${name}',
    rows: [{ label: 'pid', value: process.pid, unit: '', ratio: 9, goal: '>= 8x' }],
  });`;

test('[HOUSE-10] each bench runs in its own process, and --json leaves stdout clean', async () => {
  const dir = await treeOf({ 'one.ts': reportingPid('one'), 'two.ts': reportingPid('two') });
  const { status, stdout } = runBench('--json', '--dir', dir);
  expect(status).toBe(0);
  const reports = JSON.parse(stdout) as { name: string; rows: { value: number }[] }[];
  expect(reports.map(({ name }) => name)).toEqual(['one', 'two']);
  expect(new Set(reports.map(({ rows }) => rows[0]!.value)).size).toBe(2);
});

test('[HOUSE-10] the table judges each goal, and a failing bench does not affect the others', async () => {
  const dir = await treeOf({
    'fails.ts': `export const bench = async () => { throw new Error('no such luck'); };`,
    'works.ts': `export const bench = async () => ({ name: 'works', rows: [
      { label: 'fast', value: 0.5, unit: 'ms', goal: '< 1 ms' },
      { label: 'slow', value: 2, unit: 'ms', ratio: 0.4, goal: '>= 0.5x' },
      { label: 'unsure', value: 0.1, unit: 'MRR', ci95: [-0.1, 0.3] },
    ], below: 'a plot\\nof two lines' });`,
  });
  const { status, stdout, stderr } = runBench('--dir', dir);
  expect(status).toBe(1);
  expect(stderr).toMatch('no such luck');
  expect(stderr).toMatch('fails: fails.ts ended with 1 and no report');
  expect(stdout).toMatch(/fast +0\.5 +ms +goal < 1 ms: met/);
  expect(stdout).toMatch(/slow +2 +ms +0\.4x +goal >= 0\.5x: MISSED/);
  expect(stdout).toMatch(/unsure +0\.1 +MRR +\[-0\.1, 0\.3\]\n\n {2}a plot\n {2}of two lines\n/);
});

test('[HOUSE-10] a bench can be run by name, and an unknown name is answered with the known ones', async () => {
  const dir = await treeOf({ 'one.ts': reportingPid('one'), 'two.ts': reportingPid('two') });
  expect(JSON.parse(runBench('two', '--json', '--dir', dir).stdout)).toHaveLength(1);
  expect(runBench('three', '--dir', dir)).toMatchObject({
    status: 2,
    stderr: 'bench: no such bench: three; there are one, two\n',
  });
});
