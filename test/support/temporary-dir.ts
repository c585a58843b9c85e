import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export async function makeTemporaryDir(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'pml-test-'));
  // Servers of a killed process may take seconds to notice that, and write into it until then.
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 20 }) };
}

/** Deleted when the test ends. */
export async function temporaryDir(): Promise<string> {
  const { path, remove } = await makeTemporaryDir();
  onTestFinished(remove);
  return path;
}
