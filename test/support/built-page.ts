import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the page from the current sources, unless that was done already. */
export async function ensureBuiltPage(): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/build-dashboard.ts', '--if-stale'], { cwd: ROOT });
}
