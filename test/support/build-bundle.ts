import { fileURLToPath } from 'node:url';
import { ensureBundle } from '../../scripts/bundle/write-bundle.ts';

/** Before all tests: those that start `pml` start what is shipped. */
export async function setup(): Promise<void> {
  await ensureBundle(fileURLToPath(new URL('../..', import.meta.url)));
}
