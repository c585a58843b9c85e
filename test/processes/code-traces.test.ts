import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createSandbox } from '../../src/adapters/sandbox/create-sandbox.ts';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { prepareProgram } from '../../src/core/structure/emit/prepare-program.ts';
import { toWire } from '../../src/core/vocabulary/trace-event.ts';
import type { Store } from '../../src/engine/ports.ts';
import { commandServer } from '../contracts/upstream-support.ts';
import { createMemoryEmbedder } from '../memory/embedder.ts';
import { gatewayOver } from '../support/gateway-over.ts';
import { readyCapability } from '../support/samples.ts';
import { settingsFor } from '../support/settings-for.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const DB_SERVER = join(import.meta.dirname, '../fixtures/servers/db-server.ts');
const FILES = {
  name: 'fs',
  tools: [tool('read', ({ path }) => `text of ${path}`), tool('write', () => 'written')],
};

async function pglite(): Promise<Store> {
  const store = await openPgliteStore(await temporaryDir());
  onTestFinished(() => store.close());
  return store;
}

/** The stored rows of a run's events, as the database has them. */
async function rowsOf(store: Store, traceId: string | null) {
  const trace = await store.traces.get(traceId ?? '');
  return trace!.events.map(toWire);
}

test('[CODE-2] a tool called from a capability has the capability’s trace id as parent, in the stored row', async () => {
  const store = await pglite();
  const copy = readyCapability({
    slug: 'copy_file',
    code: 'const text = await mcp.fs.read({ path: args.from }); return await mcp.fs.write({ path: args.to, text });',
  });
  const { gateway } = await testGateway({ servers: [FILES], store, capabilities: [copy] });
  const run = await gateway.executeCode(
    { code: 'return await capabilities.copy_file({ from: "a", to: "b" })' },
    NOBODY,
  );
  expect(run).toMatchObject({ status: 'success', result: 'written' });
  const rows = await rowsOf(store, run.traceId);
  const capability = rows.find((row) => row.type === 'capability_start');
  expect(capability).toMatchObject({ parent_trace_id: null, node: `capability:${copy.id}` });
  const calls = rows.filter((row) => row.type === 'tool_start');
  expect(calls.map(({ node }) => node)).toEqual(['fs:read', 'fs:write']);
  for (const call of calls) {
    expect(call.parent_trace_id).not.toBeNull();
    expect(call.parent_trace_id).toBe(capability!.trace_id);
  }
});

test('[CODE-3] a nested capability has its calling capability’s trace id as parent, in the stored row', async () => {
  const store = await pglite();
  const inner = readyCapability({ slug: 'inner', code: 'return await mcp.fs.read({ path: "x" })' });
  const outer = readyCapability({
    slug: 'outer',
    code: 'return await Promise.all([capabilities.inner(), capabilities.inner()])',
  });
  const { gateway } = await testGateway({ servers: [FILES], store, capabilities: [inner, outer] });
  const run = await gateway.executeCapability({ capability: 'outer', arguments: {} }, NOBODY);
  expect(run.result).toEqual(['text of x', 'text of x']);
  const stored = await store.traces.get(run.traceId ?? '');
  expect(stored!.capabilityId).toBe(outer.id);
  const rows = await rowsOf(store, run.traceId);
  const [root, ...nested] = rows.filter((row) => row.type === 'capability_start');
  expect(root).toMatchObject({ node: `capability:${outer.id}`, parent_trace_id: null });
  expect(nested.map(({ node, parent_trace_id }) => [node, parent_trace_id])).toEqual([
    [`capability:${inner.id}`, root!.trace_id],
    [`capability:${inner.id}`, root!.trace_id],
  ]);
  const readers = rows.filter((row) => row.type === 'tool_start').map((row) => row.parent_trace_id);
  expect(readers.toSorted()).toEqual(nested.map((row) => row.trace_id).toSorted());
});

test('[CODE-4] a query, filter, map and reduce are in the executed path in this order', async () => {
  const gateway = await gatewayOver([commandServer('db', [DB_SERVER])]);
  const run = await gateway.executeCode(
    {
      code: `
        const users = await mcp.db.query({ sql: 'SELECT * FROM users' });
        const spent = users
          .filter((user) => user.active === 1)
          .map((user) => user.spent)
          .reduce((sum, amount) => sum + amount, 0);
        return spent;`,
      intent: 'how much did active users spend',
    },
    NOBODY,
  );
  expect(run).toMatchObject({ status: 'success', result: 200 });
  const trace = await gateway.store.traces.get(run.traceId ?? '');
  expect(trace!.executedPath).toEqual(['db:query', 'code:filter', 'code:map', 'code:reduce']);
  expect(trace!.toolInvocations.map(({ id, success }) => [id, success])).toEqual([
    ['db:query#0', true],
    ['code:filter#0', true],
    ['code:map#0', true],
    ['code:reduce#0', true],
  ]);
});

test('[CODE-15] the trace is in the store when the run is answered, with every column filled', async () => {
  const store = await pglite();
  const { gateway } = await testGateway({ servers: [FILES], store });
  const code =
    'const t = await mcp.fs.read({ path: "a" }); if (t.length > 3) { console.log(t); return t } return null';
  const call = { code, intent: 'read a file', arguments: { depth: 3 } };
  const run = await gateway.executeCode(call, { sessionId: 'session-7' });
  const trace = await store.traces.get(run.traceId ?? '');
  expect(trace).toMatchObject({
    runId: run.runId,
    sessionId: 'session-7',
    intentText: 'read a file',
    success: true,
    errorMessage: null,
    executedPath: ['fs:read'],
    decisions: [expect.objectContaining({ taken: 'true' })],
    taskResults: [expect.objectContaining({ status: 'success', result: 'text of a' })],
    code,
    guest: { seed: expect.any(String), startedAt: expect.any(Number), args: { depth: 3 } },
  });
  expect(trace!.durationMs).toBeGreaterThan(0);
  await gateway.settled();
  const learned = await store.traces.get(run.traceId ?? '');
  expect(learned!.intentEmbedding).toHaveLength(createMemoryEmbedder().dimension);
  const episodes = await store.episodes.list(run.runId);
  expect(episodes).toMatchObject([
    { eventType: 'task_complete', taskId: 'fs:read#0', data: { success: true } },
  ]);
});

test('[CODE-17] with the clock and seed stored in its trace, a program sees the same again', async () => {
  const { gateway, store } = await testGateway({ servers: [FILES] });
  const code = `
    const first = [Math.random(), new Date().toISOString()];
    await mcp.fs.read({ path: 'a' });
    return [...first, Math.random(), Date.now() >= new Date(first[1]).getTime()];`;
  const run = await gateway.executeCode({ code }, NOBODY);
  const { guest } = (await store.traces.get(run.traceId ?? ''))!;
  const program = prepareProgram(code);
  if (!program.ok) throw new Error(program.error.message);
  const again = createSandbox();
  onTestFinished(() => again.close());
  const sandboxed = await again.run(
    { ...program.value, name: 'program.ts', args: {}, deps: {} },
    {
      callTool: async () => ({ ok: true, value: 'text of a', at: guest!.startedAt + 7 }),
      enterCapability: () => Promise.reject(new Error('not called')),
      leaveCapability() {},
      mark() {},
    },
    { limits: settingsFor([]).sandbox, seed: guest!.seed, startedAt: guest!.startedAt },
  );
  expect(run.result).toEqual([
    expect.any(Number),
    new Date(guest!.startedAt).toISOString(),
    expect.any(Number),
    true,
  ]);
  expect(sandboxed).toMatchObject({ ok: true, value: run.result });
  expect((run.result as unknown[])[0]).not.toBe((run.result as unknown[])[2]);
});

test('[CODE-4] operations on a capability’s result begin after the capability has ended', async () => {
  const rows = { slug: 'rows', code: 'return [{ n: 1 }, { n: 2 }]' };
  const { gateway, store } = await testGateway({ capabilities: [rows] });
  for (let i = 0; i < 20; i++) {
    const code = 'const rows = await capabilities.rows(); return rows.map((row) => row.n).join()';
    const run = await gateway.executeCode({ code }, NOBODY);
    const { events } = (await store.traces.get(run.traceId ?? ''))!;
    const ended = events.find(({ type }) => type === 'capability_end')!;
    const mapped = events.find(({ type, node }) => type === 'tool_start' && node === 'code:map')!;
    expect(mapped.ts).toBeGreaterThanOrEqual(ended.ts);
  }
});
