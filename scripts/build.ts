/**
 * `npm run build`: what is published. Node strips no types under node_modules, so `src/` becomes
 * plain JavaScript in `dist/`, file by file, with its data files beside it.
 *
 *   node scripts/build.ts [--root DIR]
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Reference, referencesOf } from './check/references.ts';
import { type ParsedFile, parseFile, sourceFiles } from './check/source-file.ts';

/** The page has a build of its own. */
const PAGE = 'surfaces/dashboard/app';
const NO_DATA = ['**/*.ts', '**/*.tsx', `${PAGE}/**`];

const TSC = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

function compile(root: string): void {
  // The page is replaced only once there is a new one: a gateway may be serving it.
  for (const path of globSync('dist/*', { cwd: root, exclude: ['dist/dashboard'] })) {
    rmSync(join(root, path), { recursive: true, force: true });
  }
  const { status } = spawnSync(process.execPath, [TSC, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

function copyData(root: string): void {
  for (const path of globSync('**/*.*', { cwd: join(root, 'src'), exclude: NO_DATA })) {
    const to = join(root, 'dist', path);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(root, 'src', path), to);
  }
}

/** The compiler rewrites `./x.ts` in imports, but not in the addresses that start workers. */
function rewriteAddresses(root: string, file: ParsedFile): void {
  const stale = referencesOf(file).filter(
    ({ kind, specifier }) => kind === 'url' && specifier?.endsWith('.ts'),
  );
  if (stale.length === 0) return;
  const text = stale.reduceRight(
    (rest, { start, end, specifier }) =>
      `${rest.slice(0, start)}'${specifier!.replace(/\.ts$/, '.js')}'${rest.slice(end)}`,
    file.text,
  );
  writeFileSync(join(root, file.path), text);
}

/** What the built files name but cannot reach. */
function danglingReferences(root: string, file: ParsedFile): string[] {
  const reaches = ({ specifier }: Reference) =>
    !specifier?.startsWith('.') || existsSync(join(root, posix.dirname(file.path), specifier));
  return referencesOf(file)
    .filter((reference) => !reaches(reference))
    .map(({ line, specifier }) => `${file.path}:${line} names ${specifier}, which was not built`);
}

const { values } = parseArgs({ options: { root: { type: 'string' } } });
const root = resolve(values.root ?? fileURLToPath(new URL('..', import.meta.url)));
const builtFiles = () => sourceFiles(root, ['dist/!(dashboard)/**/*.js', 'dist/*.js']).map(parseFile);

compile(root);
copyData(root);
for (const file of builtFiles()) rewriteAddresses(root, file);
const files = builtFiles();
const dangling = files.flatMap((file) => danglingReferences(root, file));
if (dangling.length > 0) {
  console.error(dangling.join('\n'));
  process.exit(1);
}
if (existsSync(join(root, 'src', PAGE, 'index.html'))) {
  const { buildDashboard } = await import('./dashboard/build-dashboard.ts');
  await buildDashboard(root);
}
console.log(`dist: ${files.length} modules`);
