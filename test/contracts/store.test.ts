import { expect, test } from 'vitest';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { createMemoryStore } from '../memory/store.ts';
import { sampleCapability, sampleRun } from '../support/samples.ts';
import { makeTemporaryDir, temporaryDir } from '../support/temporary-dir.ts';
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

test('[TEAM-13] a store that one process holds alone keeps no record of what changed', async () => {
  const store = await openPgliteStore(await temporaryDir());
  await store.capabilities.put(sampleCapability());
  await store.graph.replaceAll({ edges: [], statistics: [], cursor: 0 });
  expect(await store.db.selectFrom('store_change').selectAll().execute()).toEqual([]);
  await store.close();
});

test('[STORE-43] an embedded store that is opened again has no runs that anybody drives', async () => {
  const dir = await temporaryDir();
  const first = await openPgliteStore(dir);
  const run = sampleRun();
  await first.runs.create(run, { owner: 'gone', ttlMs: 60_000 });
  expect(await first.runs.abandoned()).toEqual([]);
  await first.close();
  const second = await openPgliteStore(dir);
  expect(await second.runs.abandoned()).toEqual([run.id]);
  await second.close();
});
