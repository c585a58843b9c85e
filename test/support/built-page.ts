import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { oneAtATime } from './one-at-a-time.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Builds the page and the documentation from the current sources, unless that was done already. Two test files that
 * build at once would replace each other's folder.
 */
export async function ensureBuiltPage(): Promise<void> {
  const build = (script: string) =>
    promisify(execFile)(process.execPath, [`scripts/${script}`, '--if-stale'], { cwd: ROOT });
  await oneAtATime('page', () => Promise.all([build('build-dashboard.ts'), build('docs.ts')]));
}
