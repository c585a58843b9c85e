import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import { openedGateway, runCommand } from '../support/command-line.ts';
import { startHttp } from '../support/http-gateway.ts';
import { callTool, connectClient, fetchInto, openEndpoints } from '../support/mcp-endpoints.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const READS = {
  annotations: { readOnlyHint: true },
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};
const CODE = `
const [a, b] = [await mcp.disk.read({ path: args.first }), await mcp.disk.read({ path: 'b' })];
return { both: a.text + b.text, first: a };`;
const RESULT = { both: 'of aof b', first: { text: 'of a' } };
const NO_PLAN = 'while (await mcp.disk.read({ path: "a" })) {}';

async function office() {
  const { gateway } = await testGateway({
    servers: [{ name: 'disk', tools: [tool('read', ({ path }) => ({ text: `of ${path}` }), READS)] }],
  });
  const dir = await temporaryDir();
  const pml = async (text: string, ...argv: string[]) => {
    const file = join(dir, 'work');
    await writeFile(file, text);
    return await runCommand([...argv, file], { openGateway: async () => openedGateway(gateway) });
  };
  return { gateway, pml };
}

test('[ASPLAN-6] pml run --as-plan shows each task and prints what the program returns', async () => {
  const { pml } = await office();
  const args = ['--args', '{"first": "a"}'];
  const done = await pml(CODE, 'run', '--as-plan', ...args);
  expect(JSON.parse(done.out)).toEqual(RESULT);
  expect(done.err).toContain('✓ read disk:read');
  const told = JSON.parse((await pml(CODE, 'run', '--as-plan', '--json', ...args)).out);
  expect(told).toMatchObject({
    status: 'success',
    result: RESULT,
    layers: [['read', 'read2'], expect.anything()],
  });
  expect(await pml(NO_PLAN, 'run', '--as-plan')).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('line 1: calls tools within "while"'),
  });
});

test('[ASPLAN-7] pml workflow from prints code as a plan, pml workflow code the plan as code', async () => {
  const { pml } = await office();
  const from = await pml(CODE, 'workflow', 'from');
  expect(JSON.parse(from.out)).toMatchObject({
    inputs: [{ name: 'first' }],
    tasks: [
      { id: 'read', arguments: { path: '${first}' }, depends_on: [] },
      { id: 'read2' },
      { id: expect.any(String) },
    ],
  });
  const code = await pml(from.out, 'workflow', 'code');
  expect(code).toMatchObject({
    code: 0,
    out: expect.stringContaining('await Promise.all([\n  mcp.disk.read'),
  });
  const again = await pml(code.out, 'run', '--args', '{"first": "a"}');
  expect(JSON.parse(again.out)).toEqual(RESULT);
  const circle = { tasks: [{ id: 'a', code: 'return 1', depends_on: ['a'] }] };
  expect(await pml(JSON.stringify(circle), 'workflow', 'code')).toMatchObject({
    code: 1,
    err: expect.stringContaining('circle'),
  });
});

test('[ASPLAN-7] the return value of the code is in the plan, and comes back in its code', async () => {
  const { pml } = await office();
  const program = 'const c = await mcp.disk.read({ path: args.first });\nreturn { text: c.text };';
  const from = await pml(program, 'workflow', 'from');
  expect(JSON.parse(from.out)).toMatchObject({ tasks: [{ id: 'c' }], result: { text: '${c.text}' } });
  const code = await pml(from.out, 'workflow', 'code');
  expect(code.out).toContain('c.text');
  const direct = await pml(program, 'run', '--args', '{"first": "a"}');
  const again = await pml(code.out, 'run', '--args', '{"first": "a"}');
  expect(JSON.parse(again.out)).toEqual(JSON.parse(direct.out));
  const odd = { tasks: [{ id: 'a', code: 'return 1' }], result: '${b.id}' };
  expect(await pml(JSON.stringify(odd), 'workflow', 'code')).toMatchObject({
    code: 1,
    err: expect.stringContaining('its result refers to "b"'),
  });
});

test('[ASPLAN-6] [INTENT-3] [INTENT-5] over MCP code runs as a plan, and an uncertain intent gets the reason', async () => {
  const { gateway } = await office();
  const client = await connectClient(fetchInto(openEndpoints(gateway)), { era: 'modern' });
  const execute = async (args: object) => (await callTool(client, 'pml_execute', args)).structuredContent;
  const fenced = `\`\`\`ts${CODE}\n\`\`\``;
  expect(await execute({ code: fenced, as_plan: true, arguments: { first: 'a' } })).toMatchObject({
    status: 'success',
    result: RESULT,
    results: { read: { status: 'success' }, read2: { status: 'success' } },
  });
  expect(await execute({ code: NO_PLAN, as_plan: true })).toMatchObject({
    status: 'error',
    error: { code: 'invalid_argument', message: expect.stringContaining('line 1') },
  });
  const asked = await execute({ intent: 'read a file' });
  expect(asked).toMatchObject({
    status: 'suggestion',
    suggestion_id: expect.any(String),
    support: 0,
    why_not_run: expect.arrayContaining([
      expect.stringContaining('confidence'),
      expect.stringContaining('no past run'),
    ]),
    how_to_run: { as_it_is: expect.stringContaining(String(asked.suggestion_id)) },
  });
  const { suggestion_id } = asked;
  const run = async (args: object) =>
    (await callTool(client, 'pml_execute_workflow', args)).structuredContent;
  expect(await run({ suggestion_id, arguments: { path: 'a' } })).toMatchObject({ status: 'success' });
  expect(await run({})).toMatchObject({ status: 'error', error: { code: 'invalid_argument' } });
});

test('[ASPLAN-6] [INTENT-3] [INTENT-5] [SUGG-2] the same works over HTTP, where a suggestion is rejected', async () => {
  const { gateway } = await office();
  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  const post = async (path: string, body: object) => {
    const answer = await fetch(`http://127.0.0.1:${listener.port}/api${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  try {
    expect(await post('/execute', { code: CODE, as_plan: true, arguments: { first: 'a' } })).toMatchObject({
      status: 200,
      body: { status: 'success', result: RESULT },
    });
    const asked = await post('/execute', { intent: 'read a file' });
    expect(asked).toMatchObject({ body: { status: 'suggestion', how_to_run: expect.any(String) } });
    expect(asked.body.why_not_run).toContainEqual(expect.stringContaining('confidence'));
    const { suggestion_id } = (await post('/execute', { intent: 'read a file' })).body;
    const byId = { suggestion_id, arguments: { path: 'a' } };
    expect(await post('/workflows', byId)).toMatchObject({ status: 200, body: { status: 'success' } });
    expect(await post('/workflows', {})).toMatchObject({ status: 400 });
    const reject = `/suggestions/${asked.body.suggestion_id}/reject`;
    expect(await post(reject, {})).toMatchObject({ status: 200, body: { verdict: 'rejected' } });
    expect(await post(reject, {})).toMatchObject({ status: 409 });
    expect(await post('/suggestions/nothing/reject', {})).toMatchObject({ status: 404 });
  } finally {
    await listener.close();
  }
});
