/**
 * `npm run check`: every check of the tree that does not run it. All checks run even if one fails, so that a single
 * run shows everything.
 *
 *   node scripts/check.ts [--only NAME]... [--root DIR]
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkArrows } from './check/arrows.ts';
import { checkExamples } from './check/examples.ts';
import { checkFigures } from './check/figures.ts';
import { checkFileSizes } from './check/file-sizes.ts';
import { checkNames } from './check/names.ts';
import { checkOperations } from './check/operations.ts';
import { formatProblem, type Problem } from './check/problem.ts';
import { checkRegexes } from './check/regexes.ts';
import { checkSpecIds } from './check/spec-ids.ts';
import { checkWords } from './check/words.ts';
import { TABLE, writeTable } from './operations/operation-table.ts';

/** Returns the problems to print; none if all is well. */
type Check = (root: string) => string[];

/** The second and third contain browser code, so they have other types. */
const PROJECTS = ['.', 'src/surfaces/dashboard/app', 'test/browser'];

const CHECKS: Readonly<Record<string, Check>> = {
  // First, because it is the quickest to mend. In a process of its own: it loads the table that was just written.
  documents: script('scripts/docs.ts', '--check', '--root', '.', ...(process.env.CI ? [] : ['--write'])),
  types: (root) => [
    ...PROJECTS.filter((path) => existsSync(join(root, path))).flatMap((path) => typesIn(path)(root)),
    ...checkExamples(root, (project) => typesIn('.')(project)),
  ],
  lint: tool(
    '@biomejs/biome/bin/biome',
    'ci',
    '--colors=off',
    '--diagnostic-level=warn',
    '--error-on-warnings',
    '.',
  ),
  exports: tool('knip/bin/knip.js', '--no-progress', '--treat-config-hints-as-errors'),
  /** Files and exports of src that only tests, benches or scripts use: they would be shipped without a use. */
  product: tool('knip/bin/knip.js', '--no-progress', '--production', '--include', 'files,exports,types'),
  arrows: own(checkArrows),
  operations: own(checkOperations),
  'file-sizes': own(checkFileSizes),
  figures: own(checkFigures),
  names: own(checkNames),
  words: own(checkWords),
  regexes: own(checkRegexes),
  'spec-ids': own(checkSpecIds),
};

/** Runs the compiler on one project. */
function typesIn(project: string): Check {
  return tool('typescript/bin/tsc', '--pretty', 'false', '-p', project);
}

function own(find: (root: string) => Problem[]): Check {
  return (root) => find(root).map(formatProblem);
}

function tool(file: string, ...args: string[]): Check {
  return script(`node_modules/${file}`, ...args);
}

function script(file: string, ...args: string[]): Check {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  return (root) => {
    const { status, stdout, stderr, error } = spawnSync(process.execPath, [path, ...args], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (error) return [error.message];
    return status === 0 ? [] : [`${stdout}${stderr}`.trimEnd() || `ended with ${status} and said nothing`];
  };
}

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, root: { type: 'string' } },
});
const root = resolve(values.root ?? fileURLToPath(new URL('..', import.meta.url)));
const names = values.only ?? Object.keys(CHECKS);
const unknown = names.filter((name) => !(name in CHECKS));
if (unknown.length > 0) {
  console.error(`check: no such check: ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}`);
  process.exit(2);
}

// In CI the table must be committed; the check reports it if it is not.
if (!process.env.CI && writeTable(root)) console.log(`wrote ${TABLE}`);
const summary: string[] = [];
for (const name of names) {
  const start = performance.now();
  const complaints = CHECKS[name]!(root);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (complaints.length > 0) {
    console.error(`\n${name}:`);
    for (const complaint of complaints) console.error(complaint.replace(/^/gm, '  '));
    process.exitCode = 1;
  }
  summary.push(`${complaints.length === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(10)}  ${seconds} s`);
}
console.log(`${process.exitCode ? '\n' : ''}${summary.join('\n')}`);
