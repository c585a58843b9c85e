import { expect, test } from 'vitest';
import { soleGateway } from '../../src/adapters/store/open-pglite-store.ts';
import { createProgramCache } from '../../src/engine/code/program.ts';
import type { Store } from '../../src/engine/ports.ts';
import { retainTraces } from '../../src/engine/traces/retain-traces.ts';
import { createMemoryStore } from '../memory/store.ts';
import { settingsFor } from '../support/settings-for.ts';
import { temporaryStore } from '../support/temporary-store.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const SERVERS = ['north', 'east'].map((name) => ({
  name,
  tools: ['one', 'two', 'three'].map((nth) => tool(`handle_${nth}`, () => ({ done: `${name} ${nth}` }))),
}));

const PROGRAMS = [
  'const { done } = await mcp.north.handle_one({}); return await mcp.east.handle_two({ done });',
  'return [await mcp.east.handle_two({}), await mcp.north.handle_three({})];',
];

const DAY_MS = 86_400_000;

/** As if so many days had passed. */
function retain(store: Store, days: number) {
  const now = new Date(Date.now() + days * DAY_MS);
  return retainTraces({
    ports: {
      store,
      ...soleGateway(),
      clock: { now: () => now, monotonic: () => performance.now() },
      logger: { log: () => {} },
      sleep: async () => {},
    },
    programs: createProgramCache(),
    settings: () => settingsFor([], { retention: { tracesDays: 90 } }),
  });
}

for (const [where, open] of [
  ['in memory', async () => createMemoryStore()],
  ['embedded', () => temporaryStore()],
] as const) {
  test(`[GROW-1] ${where}: raw traces expire; the graph stays, and a rebuild gives the same`, async () => {
    const store = await open();
    const { gateway } = await testGateway({ servers: SERVERS, store });
    const work = async (times: number) => {
      for (let nth = 0; nth < times; nth++)
        await gateway.executeCode({ code: PROGRAMS[nth % 2]!, intent: 'handle it' }, NOBODY);
      await gateway.settled();
    };
    await work(5);
    const learned = await store.graph.read();
    expect(await retain(store, 89)).toBe(0);
    expect(await retain(store, 91)).toBe(5);
    expect([await store.traces.count(), await store.rollup.traces()]).toEqual([0, 5]);
    expect(await store.graph.read()).toEqual(learned);
    const view = await gateway.graph.view();
    await gateway.graph.rebuild();
    expect((await store.graph.read()).edges).toEqual(learned.edges);
    expect(await gateway.graph.view()).toEqual(view);

    await work(4);
    const more = await store.graph.read();
    expect(more.statistics.find(({ node }) => node === 'east:handle_two')?.runs).toBe(9);
    await gateway.graph.rebuild();
    expect({ ...(await store.graph.read()), cursor: 0 }).toEqual({ ...more, cursor: 0 });
    expect(await retain(store, 91)).toBe(4);
    await gateway.graph.rebuild();
    expect({ ...(await store.graph.read()), cursor: 0 }).toEqual({ ...more, cursor: 0 });
  });

  test(`[GROW-2] ${where}: suggestions expire with the traces; what people removed from them is still known`, async () => {
    const store = await open();
    const { gateway } = await testGateway({ servers: SERVERS, store });
    const ids: string[] = [];
    for (let nth = 0; nth < 3; nth++) ids.push((await gateway.suggest(`handle one, number ${nth}`)).id!);
    await gateway.rejectSuggestion(ids[1]!);
    const { suggestions } = await gateway.learning.report();
    await retain(store, 89);
    for (const id of ids) expect(await store.suggestions.get(id)).not.toBeNull();
    await retain(store, 91);
    const left = await Promise.all(ids.map((id) => store.suggestions.get(id)));
    expect(left.map((one) => one?.outcome?.verdict ?? null)).toEqual([null, 'rejected', null]);
    expect(left.map((one) => one?.id)).toEqual([undefined, ids[1], undefined]);
    expect((await gateway.learning.report()).suggestions).toEqual(suggestions);
  });
}
