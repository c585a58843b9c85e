import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

/** A file whose reader waits until the test releases it: a call that takes as long as the test needs. */
export async function heldFile(path: string): Promise<{ release(): Promise<void> }> {
  await promisify(execFile)('mkfifo', [path]);
  // Nobody must wait for a test that has failed; without a reader there is nothing to open.
  onTestFinished(async () => {
    const writer = await open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => null);
    await writer?.close();
  });
  return { release: () => writeFile(path, 'go on') };
}
