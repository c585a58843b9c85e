import { fileURLToPath } from 'node:url';
import { writeTable } from '../../scripts/operations/operation-table.ts';

/** Before all tests: tests that start `pml` start the shipped bundle, built from the current operations. */
export async function setup(): Promise<void> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  writeTable(root);
  // Imported late: the types of the client are generated from the table that was just written.
  const { ensureBundle } = await import('../../scripts/bundle/write-bundle.ts');
  await ensureBundle(root);
}
