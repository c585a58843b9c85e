/**
 * `npm run build:dashboard`: builds the page into `dist/dashboard`, with a compressed copy of every file.
 *
 *   node scripts/build-dashboard.ts [--if-stale] [--if-possible] [--root DIR]
 *
 * `--if-possible`: an installation without development packages continues without the page.
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
  },
});
const root = resolve(values.root ?? fileURLToPath(new URL('..', import.meta.url)));

function hasBuilder(): boolean {
  try {
    createRequire(import.meta.url).resolve('vite');
    return true;
  } catch {
    return false;
  }
}

if (values['if-possible'] && !hasBuilder()) {
  console.log('dist/dashboard: not built, since vite is not installed');
} else {
  const { buildDashboard, isStale } = await import('./dashboard/build-dashboard.ts');
  if (!values['if-stale'] || isStale(root)) {
    const kilobytes = (await buildDashboard(root)) / 1024;
    console.log(`dist/dashboard: ${kilobytes.toFixed(0)} KB with gzip`);
  }
}
