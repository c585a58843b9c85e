import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTemporaryDir, temporaryDir } from '../support/temporary-dir.ts';
import { problemsOf } from './report.ts';
import { fixtureBehindGateway, type GatewayedFixture, testDirectly } from './server-side.ts';
import { judge, REVISIONS, type Revision, requirementsOf, testServer } from './suite.ts';

test('[CNF-1] the fixture passes all it offers in the official suite, in both revisions', async () => {
  const columns = await testDirectly(await temporaryDir());
  for (const revision of REVISIONS) {
    expect(problemsOf(requirementsOf(revision, 'server'), columns.get(revision)!)).toEqual([]);
  }
});

/** Samples; `npm run conformance` runs all scenarios by all routes. */
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

  async function expectPassed(revision: Revision, scenarios: readonly string[]): Promise<void> {
    const outcomes = await testServer(
      gateway.urlOf('fixture'),
      revision,
      join(dir.path, revision),
      scenarios,
    );
    const passed = scenarios.map((scenario) => [scenario, { verdict: 'pass', complaints: [] }]);
    expect([...outcomes]).toEqual(passed);
  }

  test('[CNF-3] progress and questions of 2025-11-25 pass', async () => {
    await expectPassed('2025-11-25', ['tools-call-with-progress', 'tools-call-elicitation']);
  });

  test('[CNF-3] hints for caches and questions in rounds of 2026-07-28 pass', async () => {
    await expectPassed('2026-07-28', ['caching', 'input-required-result-multi-round']);
  });

  test('[CNF-4] refusals have their own HTTP status', async () => {
    await expectPassed('2026-07-28', ['server-stateless']);
  });

  test('[CNF-5] headers that repeat arguments are checked', async () => {
    await expectPassed('2026-07-28', ['http-custom-header-server-validation']);
  });

  test('[CNF-6] the rest of a stream that was lost is told to who comes back', async () => {
    const post = (body: object, session: Record<string, string> = {}) => {
      const accept = 'application/json, text/event-stream';
      const headers = { 'content-type': 'application/json', accept, ...session };
      return fetch(gateway.urlOf('fixture'), { method: 'POST', headers, body: JSON.stringify(body) });
    };
    const about = { capabilities: {}, clientInfo: { name: 'lossy', version: '1' } };
    const params = { protocolVersion: '2025-11-25', ...about };
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
    const rest = await fetch(gateway.urlOf('fixture'), { headers });
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
