import { onTestFinished } from 'vitest';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import type { Store } from '../../src/engine/ports.ts';
import { temporaryDir } from './temporary-dir.ts';

/** The real store of a data dir, by default a new one; closed when the test ends. */
export async function temporaryStore(dir?: string): Promise<Store> {
  const store = await openPgliteStore(dir ?? (await temporaryDir()));
  onTestFinished(() => store.close());
  return store;
}
