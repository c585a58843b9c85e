/**
 * `npm run docs`: writes the reference pages and `docs/llms.txt` from the code and the other pages, then builds the
 * documentation into `dist/docs`, and into the archive from which `pml serve` offers it at `/docs`.
 *
 *   node scripts/docs.ts [--if-stale] [--if-possible] [--check [--write]] [--root DIR]
 *
 * `--check`: builds nothing, but says which generated files are not current, and which pages the navigation lacks; with
 * `--write` it makes the files current first.
 * `--if-possible`: an installation without development packages continues without the site.
 */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    root: { type: 'string' },
    'if-stale': { type: 'boolean' },
    'if-possible': { type: 'boolean' },
    check: { type: 'boolean' },
    write: { type: 'boolean' },
  },
});
const root = resolve(values.root ?? fileURLToPath(new URL('..', import.meta.url)));

function hasParser(): boolean {
  try {
    createRequire(import.meta.url).resolve('markdown-it');
    return true;
  } catch {
    return false;
  }
}

if (values['if-possible'] && !hasParser()) {
  console.log('dist/docs: not built, since markdown-it is not installed');
} else if (values.check) {
  const { problemsOfDocs, writeGenerated } = await import('./docs/generated.ts');
  if (values.write) writeGenerated(root);
  const problems = problemsOfDocs(root);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
} else {
  const { buildSite, isSiteStale } = await import('./docs/build-site.ts');
  if (!values['if-stale']) {
    const { writeGenerated } = await import('./docs/generated.ts');
    for (const file of writeGenerated(root)) console.log(`wrote ${file}`);
  }
  if (!values['if-stale'] || isSiteStale(root)) console.log(`dist/docs: ${buildSite(root)} pages`);
}
