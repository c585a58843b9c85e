import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { systemNode } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('[PACK-1] what is published installs elsewhere and runs: built, with its data files, on the Node it brings', async () => {
  const dir = await temporaryDir();
  await run('npm', ['pack', '--pack-destination', dir], { cwd: ROOT });
  const tarball = (await readdir(dir)).find((name) => name.endsWith('.tgz')) ?? '';
  const app = join(dir, 'app');
  await run('npm', [
    'install',
    '--prefix',
    app,
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    join(dir, tarball),
  ]);
  const pml = join(app, 'node_modules/pml-gateway/bin/pml.js');
  const files = await readdir(join(app, 'node_modules/pml-gateway'));
  expect(files).not.toContain('src');
  const { stdout: listed } = await run('tar', ['-tf', join(dir, tarball)]);
  expect(listed.trim().split('\n').length).toBeLessThanOrEqual(200);
  expect(await readdir(join(app, 'node_modules/pml-gateway/dist/dashboard'))).toContain('index.html');
  const { stdout } = await run(systemNode(), [pml, 'doctor', '--json', '--data', join(dir, 'data')], {
    cwd: dir,
  });
  const { healthy, checks } = JSON.parse(stdout);
  expect({ healthy, failed: checks.filter((c: { status: string }) => c.status === 'fail') }).toEqual({
    healthy: true,
    failed: [],
  });
}, 300_000);
