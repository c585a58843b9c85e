import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/compose/open-gateway.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { settingsFor } from '../support/settings-for.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const NOBODY = { sessionId: null };
const SERVERS = [{ name: 'desk', tools: [tool('note', () => 'noted')] }];
const NOTE = { tool: 'desk:note', arguments: {} };

test('[TEAM-10] [TEAM-11] while PostgreSQL is down calls continue until the queue is full, what needs it says so, and nothing is lost', async () => {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  const store = { ...settingsFor([]).store, url: server.url, queueBytes: 40_000 };
  const opened = await openStore(await temporaryDir(), store);
  const { gateway } = await testGateway({ servers: SERVERS, ...opened, settings: { store } });
  onTestFinished(async () => {
    await gateway.close();
    await opened.close();
  });
  const traces: (string | null)[] = [];
  const note = async () => {
    const done = await gateway.executeTool(NOTE, NOBODY);
    expect(done.status).toBe('success');
    traces.push(done.traceId);
  };
  await note();
  await gateway.settled();

  await server.crash();
  await note();
  const code = await gateway.executeCode({ code: 'return await mcp.desk.note({})' }, NOBODY);
  expect(code).toMatchObject({ status: 'success', traceId: expect.any(String) });
  traces.push(code.traceId);
  const refused = { code: 'store_unavailable', hint: expect.any(String) };
  const plan = { tasks: [{ id: 't', dependsOn: [], ...NOTE }], inputs: [] };
  await expect(gateway.executeWorkflow(plan, null, NOBODY)).rejects.toMatchObject(refused);
  await expect(gateway.store.runs.list(5)).rejects.toMatchObject(refused);

  const untilRefused = async () => {
    for (;;) await note();
  };
  await expect(untilRefused()).rejects.toMatchObject({
    ...refused,
    message: expect.stringMatching(/\d+ traces are waiting on disk/),
  });

  await server.restartAfterCrash();
  await gateway.settled();
  await note();
  await gateway.settled();
  const stored = (await opened.store.traces.scan(0, 1_000)).traces.map(({ id }) => id);
  expect(stored).toEqual(traces);
}, 120_000);
