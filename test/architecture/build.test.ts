import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { inAscii } from '../../scripts/bundle/ascii.ts';
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

test('[HOUSE-11] the build is plain JavaScript that runs, with workers and data files, without tests', async () => {
  const root = await packageOf({
    'src/main.ts': `
      import { readFileSync } from 'node:fs';
      import { Worker } from 'node:worker_threads';
      import { distance } from 'fastest-levenshtein';
      import { greeting } from './core/greeting.ts';
      const name: string = readFileSync(new URL('./data/name.txt', import.meta.url), 'utf8');
      const worker = new Worker(new URL('./worker.ts', import.meta.url));
      worker.on('message', (mark: string) => process.stdout.write(greeting(name) + mark + distance('a', 'b')));`,
    'src/core/greeting.ts': 'export const greeting = (name: string): string => `hello ${name}`;',
    'src/core/greeting.test.ts': 'export {};',
    'src/worker.ts': "import { parentPort } from 'node:worker_threads';\nparentPort?.postMessage('!');",
    'src/data/name.txt': 'world',
    'dist/left-over.js': 'export {};',
  });
  expect(build(root)).toMatchObject({ status: 0, stdout: 'dist: 4 files\n' });
  const run = spawnSync(process.execPath, ['--no-strip-types', 'dist/main.js'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(run.stdout).toBe('hello world!1');
  const built = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).sort();
  expect(built).toEqual(['THIRD-PARTY-LICENSES.txt', 'data', 'data/name.txt', 'main.js', 'worker.js']);
  expect(readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')).toMatch(
    /^fastest-levenshtein [\d.]+\n\nMIT License/m,
  );
});

test('[HOUSE-11] the build is written in ASCII, with the same meaning', async () => {
  const code = String.raw`
    export const texts = ['a…b', "\\…", 'é\n😀', ${'`${1}—${"–"}`'}, ${'`\\u{2014}…`'}];
    export const found = ['x…😀'.match(/[…–]/g), '😀é'.match(/^[😀]é$/u), 'ı…'.replace(/\\?…|ı/g, '•')];
    export const { 'ключ': value } = { 'ключ': 1 };`;
  const written = inAscii('x.js', code);
  expect(written).toMatch(/^[\0-\x7f]*$/);
  const run = async (text: string) => ({
    ...((await import(`data:text/javascript,${encodeURIComponent(text)}`)) as object),
  });
  expect(await run(written)).toEqual(await run(code));
  expect(await run(written)).toMatchObject({ texts: ['a…b', '\\…', 'é\n😀', '1—–', '—…'] });
  // What a program reads as its own text, or escapes by itself, stays.
  for (const text of ['String.raw`…`;\n', String.raw`'\…';`]) expect(inAscii('x.js', text)).toBe(text);
});

test('[HOUSE-11] a second build leaves unchanged files alone, so that processes can run from it', async () => {
  const root = await packageOf({
    'src/main.ts': "process.stdout.write((await import('./more.ts')).more);",
    'src/more.ts': "export const more = 'more';",
  });
  expect(build(root).status).toBe(0);
  const files = () =>
    readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).map((path) => {
      const { ino, mtimeMs } = statSync(join(root, 'dist', path));
      return { path, ino, mtimeMs };
    });
  const before = files();
  expect(before.length).toBeGreaterThan(3);
  expect(build(root).status).toBe(0);
  expect(files()).toEqual(before);
});

test('[HOUSE-11] a build that would not run elsewhere is refused', async () => {
  const worker = await packageOf({
    'src/main.ts': "export const at = new URL('./gone.ts', import.meta.url);",
  });
  expect(build(worker)).toMatchObject({
    status: 1,
    stderr: 'src/main.ts:1 names src/gone.ts, which does not exist\n',
  });
  const elsewhere = await packageOf({ 'src/main.ts': 'export const at = import.meta.dirname;' });
  expect(build(elsewhere)).toMatchObject({
    status: 1,
    stderr: "src/main.ts:1 uses import.meta other than in new URL('./x', import.meta.url)\n",
  });
  expect(build(await packageOf({ 'src/main.ts': 'export const one: number = "1";' })).status).toBe(1);
});
