import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { treeOf } from './tree-of.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A package with the project's own compiler settings and these sources. */
async function packageOf(sources: Readonly<Record<string, string>>): Promise<string> {
  const settings = ['tsconfig.json', 'tsconfig.build.json'].map((name) => [
    name,
    readFileSync(join(ROOT, name), 'utf8'),
  ]);
  const root = await treeOf({
    'package.json': '{ "type": "module" }',
    ...Object.fromEntries(settings),
    ...sources,
  });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return root;
}

const build = (root: string) =>
  spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts'), '--root', root], { encoding: 'utf8' });

test('[HOUSE-11] the build is plain JavaScript that runs, workers and data files included, tests left out', async () => {
  const root = await packageOf({
    'src/main.ts': `
      import { readFileSync } from 'node:fs';
      import { Worker } from 'node:worker_threads';
      import { greeting } from './core/greeting.ts';
      const name: string = readFileSync(new URL('./data/name.txt', import.meta.url), 'utf8');
      const worker = new Worker(new URL('./worker.ts', import.meta.url));
      worker.on('message', (mark: string) => process.stdout.write(greeting(name) + mark));`,
    'src/core/greeting.ts': 'export const greeting = (name: string): string => `hello ${name}`;',
    'src/core/greeting.test.ts': 'export {};',
    'src/worker.ts': "import { parentPort } from 'node:worker_threads';\nparentPort?.postMessage('!');",
    'src/data/name.txt': 'world',
    'dist/left-over.js': 'export {};',
  });
  expect(build(root)).toMatchObject({ status: 0, stdout: 'dist: 3 modules\n' });
  const run = spawnSync(process.execPath, ['--no-strip-types', 'dist/main.js'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(run.stdout).toBe('hello world!');
  expect(existsSync(join(root, 'dist/left-over.js'))).toBe(false);
});

test('[HOUSE-11] a build that would not run elsewhere is refused', async () => {
  const worker = await packageOf({
    'src/main.ts': "export const at = new URL('./gone.ts', import.meta.url);",
  });
  expect(build(worker)).toMatchObject({
    status: 1,
    stderr: 'dist/main.js:1 names ./gone.js, which was not built\n',
  });
  expect(build(await packageOf({ 'src/main.ts': 'export const one: number = "1";' })).status).toBe(1);
});
