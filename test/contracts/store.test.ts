import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { createMemoryStore } from '../../src/engine/memory/store.ts';
import { makeTemporaryDir } from '../support/temporary-dir.ts';
import { storeContract } from './store-contract.ts';

storeContract('in memory', async () => ({ store: createMemoryStore(), dispose: async () => {} }));

storeContract('PGlite', async () => {
  const dir = await makeTemporaryDir();
  const store = await openPgliteStore(dir.path);
  return {
    store,
    async dispose() {
      await store.close();
      await dir.remove();
    },
  };
});
