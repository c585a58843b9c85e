import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTemporaryDir, temporaryDir } from '../support/temporary-dir.ts';
import { serveFixture } from './fixture/serve-http.ts';
import { fixtureBehindGateway, type GatewayedFixture } from './server-side.ts';
import { judge, REVISIONS, testServer } from './suite.ts';

/** One of each kind; `npm run conformance` runs all of them, by all routes. */
const SAMPLES = {
  '2025-11-25': ['tools-call-with-progress', 'tools-call-elicitation', 'resources-templates-read'],
  '2026-07-28': [
    'caching',
    'input-required-result-multi-round',
    'http-custom-header-server-validation',
    'tasks-mrtr-composition',
  ],
};

async function expectSamplesToPass(url: string): Promise<void> {
  const dir = await temporaryDir();
  for (const revision of REVISIONS) {
    const outcomes = await testServer(url, revision, join(dir, revision), SAMPLES[revision]);
    const passed = SAMPLES[revision].map((scenario) => [scenario, { verdict: 'pass', complaints: [] }]);
    expect([...outcomes]).toEqual(passed);
  }
}

test('[CNF-1] the fixture passes scenarios of the official suite in both revisions', async () => {
  const fixture = await serveFixture();
  await expectSamplesToPass(fixture.url).finally(() => fixture.close());
});

describe('through the gateway', () => {
  let dir: Awaited<ReturnType<typeof makeTemporaryDir>>;
  let gateway: GatewayedFixture;
  beforeAll(async () => {
    dir = await makeTemporaryDir();
    gateway = await fixtureBehindGateway(dir.path);
  });
  afterAll(async () => {
    await gateway?.close();
    await dir?.remove();
  });

  const post = (body: object, more: Record<string, string> = {}) => {
    const accept = 'application/json, text/event-stream';
    const headers = { 'content-type': 'application/json', accept, ...more };
    return fetch(gateway.urlOf('fixture'), { method: 'POST', headers, body: JSON.stringify(body) });
  };

  const modern = async (method: string, params: { readonly name?: string }, more = {}) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const response = await post(
      { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
      {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(params.name !== undefined && { 'mcp-name': params.name }),
        ...more,
      },
    );
    return { status: response.status, body: await response.json() };
  };

  test('[CNF-3] they pass as well', async () => {
    await expectSamplesToPass(gateway.urlOf('fixture'));
  });

  test('[CNF-4] refusals of the server have their own HTTP status', async () => {
    expect(await modern('unknown/method', {})).toMatchObject({
      status: 404,
      body: { error: { code: -32601 } },
    });
    const call = { name: 'test_missing_capability', arguments: {} };
    const error = { code: -32021, data: { requiredCapabilities: { sampling: {} } } };
    expect(await modern('tools/call', call)).toMatchObject({ status: 400, body: { error } });
  });

  test('[CNF-5] an argument that is not repeated in its header is refused', async () => {
    const call = { name: 'test_header_parameters', arguments: { region: 'north' } };
    const refused = { status: 400, body: { error: { code: -32020 } } };
    expect(await modern('tools/call', call)).toMatchObject(refused);
    expect(await modern('tools/call', call, { 'mcp-param-region': 'south' })).toMatchObject(refused);
    const content = [{ type: 'text', text: '{"region":"north"}' }];
    const accepted = { status: 200, body: { result: { content } } };
    expect(await modern('tools/call', call, { 'mcp-param-region': 'north' })).toMatchObject(accepted);
  });

  test('[CNF-6] a client that reconnects gets the rest of a lost stream', async () => {
    const clientInfo = { name: 'lossy', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const hello = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    await hello.body?.cancel();
    const session = {
      'mcp-session-id': hello.headers.get('mcp-session-id') ?? '',
      'mcp-protocol-version': '2025-11-25',
    };
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);

    const call = { name: 'test_tool_with_progress', arguments: {}, _meta: { progressToken: 'steps' } };
    const answer = await post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: call }, session);
    const reader = answer.body!.getReader();
    const opening = new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    const lastEventId = /^id: (.+)$/m.exec(opening)?.[1] ?? '';

    const headers = { accept: 'text/event-stream', 'last-event-id': lastEventId, ...session };
    let rest = await fetch(gateway.urlOf('fixture'), { headers });
    // The gateway may not know yet that the stream is gone.
    for (; rest.status === 409; rest = await fetch(gateway.urlOf('fixture'), { headers })) {
      await rest.body?.cancel();
    }
    let told = '';
    for await (const chunk of rest.body!) {
      told += new TextDecoder().decode(chunk);
      if (told.includes('"id":2')) break;
    }
    expect(told).toContain('Progress reported.');
  });
});

test.each([
  { statuses: ['SUCCESS', 'INFO', 'SKIPPED'], verdict: 'pass' },
  { statuses: ['SUCCESS', 'WARNING'], verdict: 'warn' },
  { statuses: ['SUCCESS', 'WARNING', 'FAILURE'], verdict: 'fail' },
  { statuses: ['SKIPPED', 'INFO'], verdict: 'skip' },
  { statuses: [], verdict: 'fail' },
] as const)('judges a scenario by its worst check: $statuses is $verdict', ({ statuses, verdict }) => {
  const checks = statuses.map((status, index) => ({ id: `check-${index}`, description: 'It works', status }));
  expect(judge(checks).verdict).toBe(verdict);
});
