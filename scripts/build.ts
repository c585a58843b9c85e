/**
 * `npm run build`: builds the published package. Node does not strip types under node_modules, and loading a thousand
 * small files takes most of the start time, so `src/` becomes a few files of plain JavaScript in `dist/`.
 *
 *   node scripts/build.ts [--root DIR]
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeTable } from './operations/operation-table.ts';

const TSC = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

const { values } = parseArgs({ options: { root: { type: 'string' } } });
const root = resolve(values.root ?? fileURLToPath(new URL('..', import.meta.url)));

writeTable(root);
const { status } = spawnSync(process.execPath, [TSC, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);
// Imported late: the types of the client are generated from the table that was just written.
const { BundleError, bundle } = await import('./bundle/bundle.ts');
const { writeBundle } = await import('./bundle/write-bundle.ts');
try {
  const files = await bundle(root);
  writeBundle(root, files);
  console.log(`dist: ${files.length} files`);
} catch (error) {
  if (!(error instanceof BundleError)) throw error;
  console.error(error.message);
  process.exit(1);
}
if (existsSync(join(root, 'src/surfaces/dashboard/app/index.html'))) {
  const { buildDashboard } = await import('./dashboard/build-dashboard.ts');
  await buildDashboard(root);
}
if (existsSync(join(root, 'docs/README.md'))) {
  const { buildSite } = await import('./docs/build-site.ts');
  buildSite(root);
}
