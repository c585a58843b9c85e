import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { treeOf } from './tree-of.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/check.ts', import.meta.url));

export interface CheckRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `node scripts/check.ts` with these arguments, in a process of its own. As in CI: it writes nothing. */
export function runCheck(...args: string[]): CheckRun {
  const env = { ...process.env, CI: 'true' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    encoding: 'utf8',
    env,
  });
  return { exitCode: status, stdout, stderr };
}

/** Complaints of one check on a tree, one per line, without the indent. */
export async function complaints(check: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const { exitCode, stderr } = runCheck('--only', check, '--root', await treeOf(files));
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== `${check}:`);
  if (exitCode !== (lines.length > 0 ? 1 : 0)) throw new Error(`exit code ${exitCode} with: ${stderr}`);
  return lines;
}
