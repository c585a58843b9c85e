import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FIXTURE = 'test/architecture/fixtures/failing-proof/vitest.config.ts';

/** Vitest as npm runs it, without what this very run may have been given. */
function runFixture(args: string[], given: NodeJS.ProcessEnv = {}): { stdout: string; stderr: string } {
  const { PML_PROOFS, PML_SEED, ...env } = process.env;
  const command = ['node_modules/vitest/vitest.mjs', 'run', '--config', FIXTURE, ...args];
  return spawnSync(process.execPath, command, {
    cwd: ROOT,
    env: { ...env, NO_COLOR: '1', ...given },
    encoding: 'utf8',
  });
}

test('[HOUSE-9] npm test runs a tenth of each long proof from a fixed seed, which a failure prints', () => {
  const { stdout, stderr } = runFixture([]);
  expect(stderr).toMatch('{ seed: 20261115, runs: 20 }');
  expect(stderr).toMatch('{ seed: 20261115, runs: 1 }');
  expect(stderr).toMatch('asks at the top of the file: failed with PML_SEED=20261115');
  expect(stderr).toMatch('asks in the test: failed with PML_SEED=20261115');
  expect(stderr).not.toMatch('passes: failed');
  expect(stdout).toMatch('2 failed | 1 passed');
});

test('[HOUSE-9] npm run prove runs them in full, from another seed if one is given', () => {
  const { stderr } = runFixture(['--mode', 'full'], { PML_SEED: '7' });
  expect(stderr).toMatch('{ seed: 7, runs: 200 }');
});
