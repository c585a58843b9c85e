import { expect, onTestFinished, test } from 'vitest';
import { startHttp } from '../../../../test/support/http-gateway.ts';
import { settingsFor } from '../../../../test/support/settings-for.ts';
import { testGateway, tool } from '../../../../test/support/test-gateway.ts';
import { createApi } from './create-api.ts';

const { permissions } = settingsFor([]);

async function serve(ask: readonly string[] = []) {
  const done: unknown[] = [];
  const write = tool('write', (args) => {
    done.push(args);
    return { written: args.path };
  });
  const settings = { permissions: { ...permissions, ask, approvalWaitMs: 1 } };
  const { gateway, store } = await testGateway({ servers: [{ name: 'disk', tools: [write] }], settings });
  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(() => listener.close());
  const post = async (path: string, body: unknown = {}) => {
    const headers = { authorization: `Bearer ${token}` };
    const reply = await fetch(`${listener.url}/api${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  return { gateway, store, done, post };
}

const TASKS = [
  { id: 'a', tool: 'disk:write', arguments: { path: 'x' } },
  { id: 'b', code: 'return deps.a.written', depends_on: ['a'] },
];

test('[API-17] POST /api/workflows runs a plan, once per run_id, and refuses an invalid one with all its problems', async () => {
  const { post, done } = await serve();
  const ask = () => post('/workflows', { workflow: { tasks: TASKS }, intent: 'try', run_id: 'mine' });
  const told = {
    status: 'success',
    run_id: 'mine',
    layers: [['a'], ['b']],
    results: { a: { status: 'success', result: { written: 'x' } }, b: { result: 'x' } },
  };
  expect(await ask()).toMatchObject({ status: 200, body: told });
  expect((await ask()).body).toMatchObject(told);
  expect(done).toHaveLength(1);
  for (const body of [
    {},
    { workflow: { tasks: [] } },
    { workflow: { tasks: [{ id: 'a', tool: 'disk:wrote' }] } },
    { workflow: { tasks: TASKS }, extra: 1 },
  ]) {
    expect(await post('/workflows', body), JSON.stringify(body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_argument' } },
    });
  }
  expect(await post('/workflows', { workflow: { tasks: [TASKS[0]] }, run_id: 'mine' })).toMatchObject({
    status: 409,
  });
});

test('[API-18] waiting tasks are edited, approved one by one, and the run continued by POST', async () => {
  const { post, store, done } = await serve(['disk:*']);
  const both = ['x', 'y'].map((path) => ({ id: path, tool: 'disk:write', arguments: { path } }));
  const { body } = await post('/workflows', { workflow: { tasks: both } });
  const at = `/runs/${body.run_id}`;
  expect(body).toMatchObject({
    status: 'approval_required',
    results: { x: { status: 'waiting' } },
    how_to_settle: { approve: `POST /api${at}/approve` },
  });
  const edited = await post(`${at}/edit`, { task: 'x', arguments: { path: 'z' } });
  expect(edited.body.approvals).toMatchObject([
    { state: 'rejected', arguments: { path: 'x' } },
    { state: 'pending', arguments: { path: 'y' } },
    { state: 'pending', arguments: { path: 'z' } },
  ]);
  const [, , third] = edited.body.approvals;
  await post(`${at}/approve`, { approval_ids: [third.approval_id] });
  expect((await post(`${at}/resume`)).body).toMatchObject({ status: 'approval_required' });
  expect(done).toEqual([{ path: 'z' }]);
  expect((await post(`${at}/reject`)).status).toBe(200);
  expect((await post(`${at}/resume`)).body).toMatchObject({
    status: 'error',
    results: { x: { status: 'success' }, y: { status: 'error' } },
  });
  expect((await post(`${at}/edit`, { arguments: { path: 'z' } })).status).toBe(404);
  expect((await post('/runs/none/edit', { arguments: {} })).status).toBe(404);
  expect((await post(`${at}/edit`, { task: 'x' })).status).toBe(400);
  expect((await store.episodes.list(body.run_id)).map(({ data }) => data.by ?? null)).toContain('api');
});
