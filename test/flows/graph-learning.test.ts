import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { toolId } from '../../src/core/vocabulary/ids.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { importTraces } from '../../src/engine/traces/import-traces.ts';
import { createMemoryStore } from '../memory/store.ts';
import { findEdge, ofType } from '../support/graph-edges.ts';
import { readyCapability } from '../support/samples.ts';
import { settingsFor } from '../support/settings-for.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { temporaryStore } from '../support/temporary-store.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

/** Slow enough that calls made at once run at once. */
const PAUSE_MS = 20;

const FILES = {
  name: 'fs',
  tools: [
    tool('list', () => setTimeout(PAUSE_MS, ['a.txt', 'b.txt'])),
    tool('read', ({ path }) => setTimeout(PAUSE_MS, `text of ${path}`)),
    tool('write', () => setTimeout(PAUSE_MS, 'written')),
    tool('remove', () => setTimeout(PAUSE_MS, 'gone')),
  ],
};

/** Runs a program in the sandbox, until everything was learned from it. */
async function run(gateway: Gateway, code: string, expected: 'success' | 'error' = 'success') {
  const made = await gateway.executeCode({ code }, NOBODY);
  expect(made.status, made.error?.message).toBe(expected);
  await gateway.settled();
}

const READ_WRITE = 'const text = await mcp.fs.read({ path: "a" }); return await mcp.fs.write({ path: "b" })';

test('[GRAPHUSE-3] a capability contains what it called in the sandbox, including nested ones', async () => {
  const copy = readyCapability({ slug: 'copy', code: READ_WRITE });
  const move = readyCapability({
    slug: 'move',
    code: 'await capabilities.copy({}); return await mcp.fs.remove({ path: "a" })',
  });
  const store = await temporaryStore();
  const { gateway } = await testGateway({ servers: [FILES], store, capabilities: [copy, move] });
  await run(gateway, 'await mcp.fs.list({}); return await capabilities.move({})');
  expect(ofType(await gateway.graph.view(), 'contains')).toEqual(
    expect.arrayContaining([
      'copy -contains-> fs:read',
      'copy -contains-> fs:write',
      'move -contains-> copy',
      'move -contains-> fs:remove',
    ]),
  );
  const { edges } = await store.graph.read();
  const parents = edges.filter(({ type }) => type === 'contains').map(({ from, to }) => [from, to]);
  expect(parents).toHaveLength(4);
  expect(parents).toContainEqual([`capability:${copy.id}`, 'fs:read']);
});

test('[GRAPHUSE-4] consecutive siblings are in sequence; parallel ones and those of other parents are not', async () => {
  const look = readyCapability({
    slug: 'look',
    code: 'await mcp.fs.list({}); return await mcp.fs.read({ path: "a" })',
  });
  const { gateway } = await testGateway({
    servers: [FILES],
    store: await temporaryStore(),
    capabilities: [look],
  });
  await run(
    gateway,
    `await mcp.fs.read({ path: 'a' });
     await Promise.all([mcp.fs.list({}), mcp.fs.write({ path: 'b' })]);
     await mcp.fs.remove({ path: 'a' });
     return await capabilities.look({});`,
  );
  expect(ofType(await gateway.graph.view(), 'sequence').toSorted()).toEqual([
    'fs:list -sequence-> fs:read',
    'fs:list -sequence-> fs:remove',
    'fs:read -sequence-> fs:list',
    'fs:read -sequence-> fs:write',
    'fs:remove -sequence-> look',
    'fs:write -sequence-> fs:remove',
  ]);
});

test('[GRAPHUSE-4] simultaneous calls are parallel, however few are sent at a time', async () => {
  const { sandbox } = settingsFor([]);
  const { gateway } = await testGateway({
    servers: [FILES],
    store: await temporaryStore(),
    settings: { sandbox: { ...sandbox, callsInFlight: 2 } },
  });
  await run(
    gateway,
    `await Promise.all([mcp.fs.list({}), mcp.fs.list({}), mcp.fs.read({ path: 'a' }), mcp.fs.write({ path: 'b' })]);
     const late = mcp.fs.remove({ path: 'a' });
     const names = ['b', 'a'].sort();
     await late;
     return names;`,
  );
  expect(ofType(await gateway.graph.view(), 'sequence').toSorted()).toEqual([
    'fs:list -sequence-> code:sort',
    'fs:list -sequence-> fs:remove',
    'fs:read -sequence-> code:sort',
    'fs:read -sequence-> fs:remove',
    'fs:write -sequence-> code:sort',
    'fs:write -sequence-> fs:remove',
  ]);
});

test('[GRAPHUSE-4] simultaneous calls are parallel, however long a program takes to make them', async () => {
  const names = Array.from({ length: 24 }, (_, i) => `t${i}`);
  const { gateway } = await testGateway({
    servers: [{ name: 'many', tools: names.map((name) => tool(name, () => name)) }],
    store: await temporaryStore(),
  });
  await run(
    gateway,
    `const all = [];
     for (const name of ${JSON.stringify(names)}) {
       all.push(mcp.many[name]({}));
       for (let i = 0; i < 1e6; i++) {}
     }
     return await Promise.all(all);`,
  );
  const order = ofType(await gateway.graph.view(), 'sequence').filter((edge) => !edge.includes('code:'));
  expect(order).toEqual([]);
});

test('[GRAPHUSE-5] a gateway reopened on its data dir has the same graph', async () => {
  const dir = await temporaryDir();
  const first = await openPgliteStore(dir);
  const before = await testGateway({ servers: [FILES], store: first });
  for (let i = 0; i < 3; i++) await run(before.gateway, READ_WRITE);
  await run(before.gateway, 'await mcp.fs.list({}); return await mcp.fs.remove({ path: "a" })');
  const [view, stored] = [await before.gateway.graph.view(), await first.graph.read()];
  await before.gateway.close();
  await first.close();

  const store = await temporaryStore(dir);
  expect(await store.graph.read()).toEqual(stored);
  const { gateway } = await testGateway({ servers: [FILES], store });
  expect(await gateway.graph.view()).toEqual(view);
  expect(await findEdge(gateway, 'fs:read', 'fs:write', 'sequence')).toEqual({
    source: 'fs:read',
    target: 'fs:write',
    edge_type: 'sequence',
    edge_source: 'observed',
    weight: 0.5,
    observed_count: 3,
    invocation_count: 3,
  });
  expect(await findEdge(gateway, 'fs:list', 'fs:remove', 'sequence')).toMatchObject({
    edge_source: 'inferred',
    weight: 0.35,
    observed_count: 1,
  });
});

test('[GRAPHUSE-6] the shortest path follows type x source: a guess is dropped once other steps are proven', async () => {
  const shop = {
    name: 'shop',
    tools: [
      tool('find', () => ({ item: 'item-7f3c9a41' })),
      tool('order', ({ item }) => (item === 'item-7f3c9a41' ? { number: 'order-91ae2b7d' } : null)),
      tool('track', ({ number }) => (number === 'order-91ae2b7d' ? 'on its way' : null)),
    ],
  };
  const [find, track] = [toolId('shop', 'find'), toolId('shop', 'track')];
  const { gateway } = await testGateway({
    servers: [shop],
    store: await temporaryStore(),
    templates: [{ from: find, to: track, type: 'sequence' }],
  });
  const program = `const { item } = await mcp.shop.find({});
    const { number } = await mcp.shop.order({ item });
    return await mcp.shop.track({ number });`;
  for (let runs = 1; runs <= 2; runs++) {
    await run(gateway, program);
    // 1 / (0.5 x 0.5) by the template, 2 / (0.7 x 0.7) over values seen once or twice.
    const guessed = await gateway.graph.path([find], track);
    expect(guessed.nodes).toEqual([find, track]);
    expect(guessed.cost).toBe(4);
    expect(guessed.steps).toMatchObject([{ edge_type: 'sequence', edge_source: 'template', weight: 0.25 }]);
  }
  await run(gateway, program);
  const proven = await gateway.graph.path([find], track);
  expect(proven.nodes).toEqual([find, 'shop:order', track]);
  expect(proven.cost).toBeCloseTo(2 / 0.7, 12);
  expect(proven.steps).toMatchObject([
    { source: find, edge_type: 'provides', edge_source: 'observed', weight: 0.7, observed_count: 3 },
    { target: track, edge_type: 'provides', edge_source: 'observed', weight: 0.7, observed_count: 3 },
  ]);
});

test('[GRAPHUSE-7] an edge is inferred after one and two runs, and observed from the third on', async () => {
  const { gateway } = await testGateway({ servers: [FILES], store: await temporaryStore() });
  const twice = `for (const path of ['a', 'b']) {
    await mcp.fs.read({ path });
    await mcp.fs.write({ path });
  }`;
  const sources = [];
  for (let runs = 1; runs <= 4; runs++) {
    await run(gateway, twice);
    sources.push(await findEdge(gateway, 'fs:read', 'fs:write', 'sequence'));
  }
  expect(sources).toMatchObject([
    { edge_source: 'inferred', observed_count: 1, invocation_count: 2, weight: 0.35 },
    { edge_source: 'inferred', observed_count: 2, invocation_count: 4, weight: 0.35 },
    { edge_source: 'observed', observed_count: 3, invocation_count: 6, weight: 0.5 },
    { edge_source: 'observed', observed_count: 4, invocation_count: 8, weight: 0.5 },
  ]);
});

/** A line of a trace whose calls have no parents, as older recorders wrote them. */
function flatTrace(calls: readonly string[]): string {
  const events = calls.flatMap((node, i) => {
    const base = { trace_id: `call-${i}`, node };
    return [
      { ...base, type: 'tool_start', ts: 10 * i },
      { ...base, type: 'tool_end', ts: 10 * i + 5, success: true, duration_ms: 5 },
    ].map((event) => ({ parent_trace_id: null, ...event }));
  });
  const trace = { id: randomUUID(), run_id: randomUUID(), executed_at: '2026-11-15T10:00:00Z' };
  return JSON.stringify({ ...trace, success: true, duration_ms: 10 * calls.length, events });
}

test('[GRAPHUSE-8] imported traces without parents give sequence edges, once, beside those of own runs', async () => {
  const store = await temporaryStore();
  const { gateway } = await testGateway({ servers: [FILES], store });
  await run(gateway, READ_WRITE);
  const lines = Array.from({ length: 3 }, () => flatTrace(['fs:list', 'fs:read', 'fs:write', 'mail:send']));
  const imported = async function* () {
    for (const [i, text] of lines.entries()) yield { number: i + 1, text };
  };
  expect(await importTraces({ store, secrets: [] }, imported())).toMatchObject({ imported: 3, refused: 0 });
  const view = await gateway.graph.view();
  expect(ofType(view, 'sequence')).toEqual([
    'fs:list -sequence-> fs:read',
    'fs:read -sequence-> fs:write',
    'fs:write -sequence-> mail:send',
  ]);
  expect(ofType(view, 'contains')).toEqual([]);
  expect(view.edges.filter(({ edge_type }) => edge_type === 'sequence')).toMatchObject([
    { observed_count: 3, edge_source: 'observed' },
    { observed_count: 4, edge_source: 'observed' },
    { observed_count: 3, edge_source: 'observed' },
  ]);
  expect(view.nodes.find(({ id }) => id === 'mail:send')).toMatchObject({ label: 'send', server: 'mail' });
  expect(await importTraces({ store, secrets: [] }, imported())).toMatchObject({ imported: 0, skipped: 3 });
  expect(await gateway.graph.view()).toEqual(view);
});

/** Programs that leave edges of every type a run can leave, one that fails among them. */
const PROGRAMS = [
  READ_WRITE,
  `const names = await mcp.fs.list({});
   const texts = await Promise.all(names.filter((name) => name.endsWith('.txt')).map((path) => mcp.fs.read({ path })));
   return texts.map((text) => text.length).reduce((sum, length) => sum + length, 0);`,
  `const names = await mcp.fs.list({});
   if (names.length > 1) await mcp.fs.remove({ path: names[0] }); else await mcp.fs.write({ path: 'c' });
   return await capabilities.copy({});`,
  `await capabilities.copy({}); const text = await mcp.fs.read({ path: 'a' }); return text.nothing.here;`,
];

test('[GRAPHUSE-10] learning run by run gives the same graph as a rebuild from the traces', async () => {
  const store = await temporaryStore();
  const copy = readyCapability({ slug: 'copy', code: READ_WRITE });
  const { gateway } = await testGateway({ servers: [FILES], store, capabilities: [copy] });
  for (let i = 0; i < 12; i++) {
    await run(gateway, PROGRAMS[i % 4]!, i % 4 === 3 ? 'error' : 'success');
  }
  const [live, stored] = [await gateway.graph.view(), await store.graph.read()];
  const types = new Set(live.edges.map(({ edge_type }) => edge_type));
  expect(types).toEqual(new Set(['contains', 'provides', 'sequence', 'conditional']));

  const { traces, before, after } = await gateway.graph.rebuild();
  expect(traces).toBe(await store.traces.count());
  expect(after).toEqual(before);
  expect(JSON.stringify(await gateway.graph.view())).toBe(JSON.stringify(live));
  expect(JSON.stringify(await store.graph.read())).toBe(JSON.stringify(stored));
});

test('[GRAPHUSE-10] a rebuild leaves forgotten traces out', async () => {
  const store = createMemoryStore();
  const { gateway } = await testGateway({ servers: [FILES], store });
  await run(gateway, READ_WRITE);
  await run(gateway, 'await mcp.fs.list({}); return await mcp.fs.remove({ path: "a" })');
  const [newest] = await store.traces.list({ limit: 1 });
  await store.traces.remove([newest!.id]);
  const { before, after } = await gateway.graph.rebuild();
  expect(before.edges - after.edges).toBe(1);
  expect(ofType(await gateway.graph.view(), 'sequence')).toEqual(['fs:read -sequence-> fs:write']);
  expect(await gateway.graph.rebuilding()).toBeNull();
});

test('[GRAPHUSE-10] two gateways on one store count every run once and come to the same graph', async () => {
  const store = createMemoryStore();
  const opened = await Promise.all([1, 2].map(() => testGateway({ servers: [FILES], store })));
  const gateways = opened.map(({ gateway }) => gateway);
  await Promise.all(
    gateways.map(async (gateway, i) => {
      for (let runs = 0; runs < 5 + i; runs++) await run(gateway, READ_WRITE);
    }),
  );
  const edges = await Promise.all(gateways.map(async (gateway) => (await gateway.graph.view()).edges));
  expect(edges[0]).toEqual(edges[1]);
  expect(edges[0]).toContainEqual(
    expect.objectContaining({ source: 'fs:read', edge_type: 'sequence', observed_count: 11 }),
  );
  const stored = await store.graph.read();
  await gateways[0]!.graph.rebuild();
  expect(await store.graph.read()).toEqual(stored);
});
