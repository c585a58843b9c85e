import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { clientTypes } from '../../scripts/bundle/client-types.ts';
import { connect } from '../../src/client.ts';
import { may, type Right } from '../../src/engine/people/roles.ts';
import { type AnyOperation, operation } from '../../src/operations/operation.ts';
import { operationClient } from '../../src/operations/operation-client.ts';
import { operationContext } from '../../src/operations/operation-context.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import { routeRights } from '../../src/surfaces/http/create-app.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { handMadeGateway, serverlessGateway } from '../support/hand-made-gateway.ts';
import { startHttp } from '../support/http-gateway.ts';
import { callTool, connectClient, fetchInto, openEndpoints, rawRequest } from '../support/mcp-endpoints.ts';
import { settingsFor } from '../support/settings-for.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { testGateway, tool } from '../support/test-gateway.ts';
import { typeCheck } from '../support/type-check.ts';

/** An operation that PML does not have: all that it takes to add one. */
const greet = operation({
  name: 'greet_person',
  right: 'run',
  summary: 'Greets a person',
  input: z.strictObject({ name: z.string().min(1), times: z.int().min(1).default(1) }),
  output: z.object({ greeting: z.string(), by: z.string() }),
  http: { method: 'GET', path: '/greetings/:name', query: { times: 'n' } },
  mcp: {
    tool: 'pml_greet_person',
    place: 6,
    title: 'Greet',
    description: 'Greet a person.',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  async run(_, { name, times }, { who }) {
    return { greeting: Array(times).fill(`Hello, ${name}!`).join(' '), by: who?.name ?? 'nobody' };
  },
});
const TABLE = [...OPERATIONS, greet] as const;

async function serve() {
  const gateway = handMadeGateway();
  const api = createApi(gateway, { log: () => {} }, { operations: TABLE, version: '1.2.3' });
  const { listener, token, access } = await startHttp({ api, operations: TABLE });
  onTestFinished(listener.close);
  const ask = async (path: string, init: RequestInit = {}) => {
    const reply = await fetch(`${listener.url}/api${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  return { ask, access, url: listener.url, token };
}

test('[OP-1] an operation that is added to the table has a route, with path and query, and an address by name', async () => {
  const { ask } = await serve();
  expect(await ask('/greetings/Ada?n=2')).toMatchObject({
    status: 200,
    body: { greeting: 'Hello, Ada! Hello, Ada!' },
  });
  expect((await ask('/greetings/Ada?n=0')).body.error).toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/^n: /),
    hint: 'Fields: name, n.',
  });
  const body = JSON.stringify({ name: 'Bob' });
  expect((await ask('/operations/greet_person', { method: 'POST', body })).body.greeting).toBe('Hello, Bob!');
  const strange = JSON.stringify({ name: 'Bob', tmes: 3 });
  expect((await ask('/operations/greet_person', { method: 'POST', body: strange })).status).toBe(400);
  expect((await ask('/operations/greet_nobody', { method: 'POST', body })).status).toBe(404);
});

test('[OP-3] /api/openapi.json describes every operation that has a route, with input, output and right', async () => {
  const { ask } = await serve();
  const { body } = await ask('/openapi.json');
  expect(body).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
  expect(body.paths['/api/greetings/{name}'].get).toMatchObject({
    operationId: 'greet_person',
    summary: 'Greets a person',
    'x-pml-right': 'run',
    parameters: [
      { name: 'name', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'n', in: 'query', required: false, schema: { type: 'integer', default: 1 } },
    ],
    responses: { 200: { content: { 'application/json': { schema: { required: ['greeting', 'by'] } } } } },
  });
  const described = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>)
    .flatMap((path) => Object.values(path))
    .map(({ operationId }) => operationId);
  const routed = TABLE.filter((one) => 'http' in one && one.http).map(({ name }) => name);
  expect(described.toSorted()).toEqual(routed.toSorted());
  const named = JSON.stringify(body).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  const known = Object.keys(body.components.schemas);
  expect([...new Set([...named].map(([, name]) => name))].filter((name) => !known.includes(name!))).toEqual(
    [],
  );
  expect(JSON.stringify(body)).not.toContain('$defs');
});

test('[OP-4] the typed client has every operation as a method, with the types of its input and output', async () => {
  const { url, token } = await serve();
  const pml = operationClient<typeof TABLE>(async (name, input) => {
    const headers = { authorization: `Bearer ${token}` };
    const body = JSON.stringify(input);
    return await (await fetch(`${url}/api/operations/${name}`, { method: 'POST', headers, body })).json();
  });
  expectTypeOf(pml.greetPerson).parameter(0).toExtend<{ readonly name: string; readonly times?: number }>();
  expectTypeOf(pml.greetPerson({ name: 'x' })).resolves.toEqualTypeOf<{
    readonly greeting: string;
    readonly by: string;
  }>();
  expect((await pml.greetPerson({ name: 'Ada' })).greeting).toBe('Hello, Ada!');
  expectTypeOf(pml.listRuns).toBeCallableWith();
  // @ts-expect-error A query is needed.
  expectTypeOf(pml.searchTools).toBeCallableWith({});
  // @ts-expect-error There is no such operation.
  expect(pml.greetNobody).toBeTypeOf('function');
});

test('[OP-2] the right of an operation is the declared one, at every address; undeclared addresses require manage', () => {
  const { rightFor } = routeRights(TABLE);
  expect(rightFor('GET', '/api/greetings/Ada')).toBe('run');
  expect(rightFor('HEAD', '/api/greetings/Ada')).toBe('run');
  expect(rightFor('POST', '/api/operations/greet_person')).toBe('run');
  expect(rightFor('POST', '/api/greetings/Ada')).toBe('manage');
  expect(rightFor('POST', '/api/operations/greet_nobody')).toBe('manage');
  expect(routeRights().rightFor('GET', '/api/greetings/Ada')).toBe('manage');
});

test('[OP-5] connect() finds the gateway by data dir, or by url and token, and reports errors', async () => {
  const { url, token } = await serve();
  const dataDir = await temporaryDir();
  await expect(connect({ dataDir })).rejects.toMatchObject({ code: 'holder_unreachable' });
  await writeFile(join(dataDir, 'token'), `${token}\n`);
  await writeFile(join(dataDir, 'holder.json'), JSON.stringify({ port: Number(new URL(url).port) }));
  const pml = await connect({ dataDir });
  expect(await pml.getMe()).toMatchObject({ role: 'owner' });
  await expect(pml.getTrace({ trace_id: 'none' })).rejects.toMatchObject({
    code: 'not_found',
    message: 'Trace none not found',
    hint: 'See GET /api/traces.',
  });
  expect(await (await connect({ url, token })).listRuns({ limit: 1 })).toEqual({ runs: [] });
  await expect(connect({ url, token: 'wrong' })).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(connect({ url: 'http://127.0.0.1:1', token })).rejects.toMatchObject({
    code: 'holder_unreachable',
  });
});

test('[OP-5] the client loads nothing but itself: no schema, no engine, no package', async () => {
  const loaded = new Set<string>();
  const visit = async (path: string) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const text = await readFile(path, 'utf8');
    for (const [, from] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)';/gm)) {
      await visit(join(path, '..', from!));
    }
  };
  const src = fileURLToPath(new URL('../../src/', import.meta.url));
  await visit(join(src, 'client.ts'));
  expect([...loaded].map((path) => path.slice(src.length)).toSorted()).toEqual([
    'client.ts',
    'core/vocabulary/pml-error.ts',
    'operations/operation-client.ts',
  ]);
});

test('[OP-7] an operation marked as a tool becomes one, with its input and output schemas and its right', async () => {
  const reserved = {
    ...greet,
    name: 'reserve',
    right: 'manage' as const,
    mcp: { ...greet.mcp!, tool: 'pml_reserve' as const },
  };
  const endpoints = openEndpoints(serverlessGateway(), { operations: [...TABLE, reserved] });
  const client = await connectClient(fetchInto(endpoints), { era: 'modern' });
  const { tools } = (await rawRequest(client, 'tools/list')) as { tools: { name: string }[] };
  expect(tools.find(({ name }) => name === 'pml_greet_person')).toMatchObject({
    description: 'Greet a person.',
    inputSchema: { properties: { name: { type: 'string' }, times: { default: 1 } }, required: ['name'] },
    outputSchema: { properties: { greeting: { type: 'string' }, by: { type: 'string' } } },
  });
  const { structuredContent } = await callTool(client, 'pml_greet_person', { name: 'Ada' });
  expect(structuredContent).toMatchObject({ greeting: 'Hello, Ada!' });
  const refused = await callTool(client, 'pml_reserve', { name: 'Ada' });
  expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'forbidden' } } });
});

test('[OP-8] "pml call" runs any operation by name in the process that holds the data dir, and prints its answer as JSON', async () => {
  const system = { openGateway: async () => openedGateway(handMadeGateway(), TABLE) };
  const greeted = await runCommand(['call', 'greet_person', '{"name": "Ada", "times": 2}'], system);
  expect(greeted).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(greeted.out)).toEqual({ greeting: 'Hello, Ada! Hello, Ada!', by: 'nobody' });
  const wrong = await runCommand(['call', 'greet_person', '{"nme": "Ada"}'], system);
  expect(wrong.code).toBe(1);
  expect(wrong.err).toContain('name');
  expect(await runCommand(['call', 'greet_nobody'], system)).toMatchObject({ code: 1, out: '' });
});

test('[OP-9] [TRACE-19] answers have exactly the fields of the outputs of their operations', async () => {
  const write = tool('write', (args) => ({ written: args.path }));
  const permissions = { ...settingsFor([]).permissions, ask: ['disk:ask'], approvalWaitMs: 1 };
  const servers = [{ name: 'disk', tools: [write, tool('ask', () => 'yes')] }];
  const { gateway } = await testGateway({ servers, settings: { permissions } });
  const context = operationContext(gateway, 'life');
  const ask = async (name: string, input: object = {}) => {
    const asked = OPERATIONS.find((one) => one.name === name) as AnyOperation;
    const answered: unknown = JSON.parse(
      JSON.stringify(await asked.run(context, asked.input.parse(input), { sessionId: null, isPerson: true })),
    );
    expect(asked.output.parse(answered), name).toEqual(answered);
    return answered as Record<string, unknown>;
  };
  const call = { tool: 'disk:write', arguments: { path: 'x' } };
  await ask('execute', { ...call, intent: 'write x' });
  await ask('execute', { code: 'console.log(1); return await mcp.disk.write({ path: "y" })' });
  await ask('execute', { code: 'return nothing.here' });
  const { run_id } = await ask('execute', { tool: 'disk:ask' });
  const tasks = [
    { id: 'a', ...call },
    { id: 'b', tool: 'disk:ask', depends_on: ['a'] },
  ];
  await ask('execute_workflow', { workflow: { tasks }, intent: 'write x, then ask' });
  await gateway.settled();
  const { traces } = await ask('list_traces');
  const seen = await Promise.all(
    (traces as { id: string }[]).map(({ id }) => ask('get_trace', { trace_id: id })),
  );
  expect(seen.flatMap(({ episodes }) => episodes)).toContainEqual(
    expect.objectContaining({
      event_type: 'task_complete',
      data: expect.objectContaining({ success: true }),
    }),
  );
  await ask('get_run', { run_id });
  await ask('approve_run', { run_id });
  await ask('search_tools', { query: 'write', explain: true, capabilities: true, signatures: true });
  await ask('suggest', { intent: 'write x' });
  await ask('suggest', { intent: 'write x', executed: ['disk:write'] });
  await ask('get_node', { id: 'disk:write' });
  await ask('find_path', { from: 'disk:write', to: 'disk:ask' });
  await ask('find_path', { from: ['disk:write', 'disk:ask'], to: 'disk:ask' });
  for (const name of ['get_me', 'get_stats', 'list_servers', 'get_activity', 'get_graph', 'list_runs'])
    await ask(name);
  for (const name of ['list_live_runs', 'list_capabilities', 'get_learning', 'get_learning_insight'])
    await ask(name);
  for (const name of ['get_types', 'list_audit_entries', 'list_logins', 'log_out']) await ask(name);
});

test('[OP-11] --json output of commands has exactly the fields of the outputs of their operations', async () => {
  const servers = [{ name: 'disk', tools: [tool('write', () => 'done'), tool('ask', () => 'yes')] }];
  const permissions = { ...settingsFor([]).permissions, ask: ['disk:ask'], approvalWaitMs: 1 };
  const { gateway } = await testGateway({ servers, settings: { permissions } });
  const system = { openGateway: async () => openedGateway(gateway) };
  const printed = async (operation: string, argv: readonly string[], input = '') => {
    const { out } = await runCommand([...argv, '--json'], system, { input });
    const { output } = OPERATIONS.find(({ name }) => name === operation) as AnyOperation;
    const answer = JSON.parse(out) as Record<string, unknown>;
    expect(output.parse(answer), argv.join(' ')).toEqual(answer);
    return answer;
  };
  await printed('execute', ['run', '-', '--intent', 'write'], 'return await mcp.disk.write({})');
  await printed('execute', ['run', '-', '--as-plan'], 'return await mcp.disk.write({})');
  const { run_id: id } = await printed('execute', ['run', '-'], 'return await mcp.disk.ask({})');
  await gateway.settled();
  const run = String(id);
  await printed('list_runs', ['runs']);
  await printed('get_run', ['runs', 'show', run]);
  await printed('approve_run', ['runs', 'approve', run, '--yes']);
  await printed('resume_run', ['runs', 'resume', run]);
  const plan = JSON.stringify({ tasks: [{ id: 'a', tool: 'disk:write' }] });
  await printed('execute_workflow', ['workflow', 'run', '-'], plan);
  await printed('search_tools', ['search', 'write', '--explain', '--signatures']);
  await printed('suggest', ['suggest', 'write']);
  await printed('predict_next', ['next', 'write']);
  const [trace] = await gateway.store.traces.list({ limit: 1 });
  await printed('get_trace', ['trace', 'show', trace!.id]);
  await printed('list_capabilities', ['capability']);
  await printed('get_graph_report', ['graph']);
  await printed('rebuild_graph', ['graph', 'rebuild']);
  await printed('get_learning', ['train']);
  await printed('create_key', ['keys', 'create', 'ada']);
  await printed('list_keys', ['keys']);
  await printed('revoke_key', ['keys', 'revoke', 'ada']);
});

test('[OP-12] actions reserved for the owner of the data folder are refused to every key', () => {
  const withRight = (wanted: Right) =>
    OPERATIONS.filter(({ right }) => right === wanted).map(({ name }) => name);
  const owners = withRight('bridge');
  expect(withRight('keys').toSorted()).toEqual(['create_key', 'list_keys', 'revoke_key', 'set_key_scope']);
  expect(owners).toEqual(
    expect.arrayContaining([
      'set_server_credentials',
      'start_server_login',
      'import_capability',
      'accept_server_changes',
      'import_traces',
      'forget_traces',
      'back_up_store',
      'create_login_link',
    ]),
  );
  const { rightFor } = routeRights();
  for (const name of owners) expect(rightFor('POST', `/api/operations/${name}`)).toBe('bridge');
  for (const role of ['viewer', 'agent', 'operator'] as const) {
    for (const right of ['keys', 'bridge'] as const) expect(may({ role }, right)).toBe(false);
  }
});

test('[OP-4] the published types of the client are those of the operations, in one file that needs no other', async () => {
  const program = `import { connect } from './client.js';
    const pml = await connect();
    const { greeting } = await pml.greetPerson({ name: 'Ada' });
    greeting.toUpperCase();
    const { tools } = await pml.searchTools({ query: 'read' });
    const score: number = tools[0]!.final_score;
    const { runs } = await pml.listRuns();
    runs[0]!.approvals[0]!.state satisfies 'pending' | 'approved' | 'rejected' | 'used';
    // @ts-expect-error A query is needed.
    await pml.searchTools({ limit: score });
    // @ts-expect-error There is no such field.
    await pml.greetPerson({ name: 'Ada', tmes: 2 });
    export {};`;
  const files = { 'client.d.ts': clientTypes(TABLE), 'use.ts': program };
  expect(await typeCheck(await temporaryDir(), files)).toBe('');
});
