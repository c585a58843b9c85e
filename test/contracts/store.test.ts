import { expect, test } from 'vitest';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { sqlCalls } from '../../src/adapters/store/sql/calls.ts';
import { createMemoryStore } from '../memory/store.ts';
import { sampleCapability, sampleRun, sampleTrace } from '../support/samples.ts';
import { makeTemporaryDir, temporaryDir } from '../support/temporary-dir.ts';
import { eventsOf, everyPage } from './store-call-rules.ts';
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

test('[TEAM-13] a store with a single process keeps no record of changes', async () => {
  const store = await openPgliteStore(await temporaryDir());
  await store.capabilities.put(sampleCapability());
  await store.graph.replaceAll({ edges: [], statistics: [], cursor: 0 });
  expect(await store.db.selectFrom('store_change').selectAll().execute()).toEqual([]);
  await store.close();
});

test('[STORE-43] in an embedded store that is reopened, no run has a driver', async () => {
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

test('[CALLS-7] however few calls one scan covers, the pages of a filter hold all matches, in order', async () => {
  const store = await openPgliteStore(await temporaryDir());
  const traces = Array.from({ length: 12 }, (_, nth) =>
    sampleTrace({
      executedAt: new Date(Date.UTC(2033, 0, 1 + nth)),
      owner: nth % 5 === 0 ? 'bob' : 'ada',
      events: eventsOf('s', [
        { tool: nth % 3 === 0 ? 'rare' : 'usual', ms: nth },
        { tool: 'usual', ms: nth },
      ]),
    }),
  );
  await store.traces.appendAll(traces);
  for (const filter of [
    { owner: 'bob' },
    { server: 's', owner: 'bob' },
    { tool: 's:rare', minMs: 5 },
    { minMs: 99 },
  ]) {
    const whole = await store.calls.list(filter, 50);
    const looked = await everyPage(sqlCalls(store.db, { window: 4, scattered: 4 }), filter);
    expect(looked).toEqual(whole.calls.map(({ traceId, id }) => `${traceId} ${id}`));
  }
  const { groups, since } = await sqlCalls(store.db, { window: 4, scattered: 4 }).group({}, 'tool');
  expect(groups.reduce((sum, { calls }) => sum + calls, 0)).toBe(4);
  expect(since).toEqual(traces[9]!.executedAt);
  await store.close();
});
