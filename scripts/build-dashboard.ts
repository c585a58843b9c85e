/**
 * `npm run build:dashboard`: the page in `dist/dashboard`, every file also compressed beside itself.
 *
 *   node scripts/build-dashboard.ts [--if-stale] [--root DIR]
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildDashboard, isStale } from './dashboard/build-dashboard.ts';

const { values } = parseArgs({ options: { root: { type: 'string' }, 'if-stale': { type: 'boolean' } } });
const root = resolve(values.root ?? fileURLToPath(new URL('..', import.meta.url)));

if (!values['if-stale'] || isStale(root)) {
  const kilobytes = (await buildDashboard(root)) / 1024;
  console.log(`dist/dashboard: ${kilobytes.toFixed(0)} KB with gzip`);
}
