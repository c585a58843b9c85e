import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The page as it stands in the sources; where that was built already, nothing is done. */
export async function ensureBuiltPage(): Promise<void> {
  await promisify(execFile)(process.execPath, ['scripts/build-dashboard.ts', '--if-stale'], { cwd: ROOT });
}
