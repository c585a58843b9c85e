import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the page and the documentation from the current sources, unless that was done already. */
export async function ensureBuiltPage(): Promise<void> {
  const build = (script: string) =>
    promisify(execFile)(process.execPath, [`scripts/${script}`, '--if-stale'], { cwd: ROOT });
  await Promise.all([build('build-dashboard.ts'), build('docs.ts')]);
}
