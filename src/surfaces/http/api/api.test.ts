import { expect, onTestFinished, test } from 'vitest';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { startHttp } from '../../../../test/support/http-gateway.ts';
import { sampleApproval, sampleRun, sampleTool, sampleTrace } from '../../../../test/support/samples.ts';
import { type ToolId, toolId } from '../../../core/vocabulary/ids.ts';
import type { TraceEvent } from '../../../core/vocabulary/trace-event.ts';
import type { SearchQuery } from '../../../engine/catalogue/search.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { createApi } from './create-api.ts';

async function serve(gateway: Gateway) {
  const { listener, token, access } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(listener.close);
  const ask = async (path: string, method = 'GET', headers: Record<string, string> = {}) => {
    const authorization = { authorization: `Bearer ${token}` };
    const reply = await fetch(`${listener.url}/api${path}`, {
      method,
      headers: { ...authorization, ...headers },
    });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  return { ask, access, url: listener.url };
}

test('[API-1] the API requires the token', async () => {
  const { url } = await serve(handMadeGateway());
  for (const path of ['stats', 'servers', 'search?q=x', 'runs', 'traces', 'events']) {
    expect((await fetch(`${url}/api/${path}`)).status, path).toBe(401);
  }
  for (const path of ['runs/x/approve', 'execute', 'capabilities/x/run']) {
    expect((await fetch(`${url}/api/${path}`, { method: 'POST' })).status, path).toBe(401);
  }
});

test('[API-2] /api/stats returns the figures, including saved tokens, and the event id to follow from', async () => {
  const gateway = handMadeGateway({
    stats: async () => ({
      servers: 23,
      tools: 278,
      capabilities: 1,
      traces: 7,
      schemaTokens: 97_000,
      exposedTokens: 1_900,
      sparedTokens: 95_100,
      pendingApprovals: 2,
      speculation: { started: 4, used: 3 },
      loop: { stalls: 0, stalledMs: 0, longestMs: 0, last: null },
    }),
  });
  const { ask } = await serve(gateway);
  expect(await ask('/stats')).toEqual({
    status: 200,
    body: {
      servers: 23,
      tools: 278,
      capabilities: 1,
      traces: 7,
      schema_tokens: 97_000,
      exposed_tokens: 1_900,
      spared_tokens: 95_100,
      per_session: null,
      pending_approvals: 2,
      speculation: { started: 4, used: 3, hit_rate: 0.75 },
      loop: { stalls: 0, stalled_ms: 0, longest_ms: 0, last: null },
      last_event_id: expect.stringMatching(/^[0-9a-f]{8}\.0$/),
    },
  });
});

test('[API-3] /api/servers returns the state of each server', async () => {
  const gateway = handMadeGateway({
    servers: async () => [
      {
        name: 'files',
        transport: 'stdio',
        state: 'backoff',
        since: new Date('2026-11-15T09:00:00Z'),
        error: { code: 'upstream_unavailable', message: 'it ended with code 1' },
        pid: null,
        toolCount: null,
        protocolVersion: null,
        callsInFlight: 1,
        callsWaiting: 4,
        garbageLines: 2,
        tools: 12,
        changedTools: ['files:read'],
        schemaTokens: 3_000,
        suspicions: [],
      },
    ],
  });
  const { ask } = await serve(gateway);
  expect((await ask('/servers')).body.servers).toEqual([
    {
      name: 'files',
      transport: 'stdio',
      state: 'backoff',
      since: '2026-11-15T09:00:00.000Z',
      error: { code: 'upstream_unavailable', message: 'it ended with code 1' },
      pid: null,
      protocol_version: null,
      tools: 12,
      changed_tools: ['files:read'],
      schema_tokens: 3_000,
      suspicions: [],
      calls_in_flight: 1,
      calls_waiting: 4,
      garbage_lines: 2,
    },
  ]);
});

test('[DASH-10] /api/activity returns the runs per hour', async () => {
  const gateway = handMadeGateway();
  const { ask } = await serve(gateway);
  const lately = new Date(Date.now() - 30 * 3_600_000);
  await gateway.store.traces.append(sampleTrace({ executedAt: lately, success: true }));
  const hour = new Date(Math.floor(lately.getTime() / 3_600_000) * 3_600_000).toISOString();
  expect((await ask('/activity')).body).toEqual({ hours: [{ hour, runs: 1, successes: 1 }] });
  expect((await ask('/activity?days=1')).body).toEqual({ hours: [] });
  expect((await ask('/activity?days=0')).status).toBe(400);
});

test('[API-4] /api/search passes query, limit, server and context on, and returns the parts of scores', async () => {
  const asked: SearchQuery[] = [];
  const tool = sampleTool('files', 'read');
  const parts = { whole: 0.5, clause: 0.25, lexical: 1, name: 0, alpha: 0.8 };
  const gateway = handMadeGateway({
    async searchTools(query) {
      asked.push(query);
      const related = [{ toolId: 'files:write', relation: 'often_after', score: 0.5 }] as const;
      return [{ tool, semanticScore: 0.75, graphScore: 0, finalScore: 0.75, parts, related }];
    },
  });
  const { ask } = await serve(gateway);
  const { body } = await ask('/search?q=read%20a%20file&limit=3&server=files&context=a:b,c:d');
  expect(asked).toEqual([
    { query: 'read a file', limit: 3, server: 'files', contextTools: ['a:b', 'c:d'], includeRelated: true },
  ]);
  expect(body.tools).toEqual([
    {
      tool_id: 'files:read',
      server_id: 'files',
      description: tool.description,
      input_schema: tool.inputSchema,
      semantic_score: 0.75,
      graph_score: 0,
      final_score: 0.75,
      parts,
      related_tools: [{ tool_id: 'files:write', relation: 'often_after', score: 0.5 }],
    },
  ]);
});

test('[API-5] an invalid request is 400 with a code and a message, an unknown object 404', async () => {
  const { ask } = await serve(handMadeGateway({ searchTools: async () => [] }));
  const wrong = ['/search', '/search?q=', '/search?q=x&limit=0', '/traces?limit=many', '/runs?limit=1000'];
  for (const path of wrong) {
    const { status, body } = await ask(path);
    expect(status, path).toBe(400);
    expect(body.error, path).toMatchObject({ code: 'invalid_argument', message: expect.any(String) });
  }
  for (const path of ['/runs/none', '/traces/none']) {
    const { status, body } = await ask(path);
    expect({ status, code: body.error.code, hint: typeof body.error.hint }).toEqual({
      status: 404,
      code: 'not_found',
      hint: 'string',
    });
  }
  expect((await ask('/nowhere')).status).toBe(404);
});

test('[API-5] an internal failure is 500 with a code', async () => {
  const gateway = handMadeGateway({ stats: () => Promise.reject(new Error('disk full')) });
  const { status, body } = await (await serve(gateway)).ask('/stats');
  expect({ status, body }).toEqual({
    status: 500,
    body: { error: { code: 'internal', message: 'disk full' } },
  });
});

test('[API-6] runs that wait for a person come first, with exact arguments; the first decision stands', async () => {
  const gateway = handMadeGateway();
  const { store } = gateway;
  const done = sampleRun({ status: 'success' });
  const paused = sampleRun({ status: 'paused' });
  await store.runs.create(paused);
  await store.runs.create(done);
  const args = { path: '/srv/old.txt', force: true };
  const pending = { state: 'pending', settledAt: null, settledBy: null, arguments: args } as const;
  await store.approvals.request(sampleApproval({ ...pending, runId: paused.id }));
  await store.approvals.request(sampleApproval({ ...pending, runId: 'still-waiting' }));
  const { ask, access } = await serve(gateway);

  const { runs } = (await ask('/runs')).body;
  expect(runs.map((run: { run_id: string }) => run.run_id)).toEqual([paused.id, 'still-waiting', done.id]);
  expect(runs[0]).toMatchObject({ status: 'paused', approvals: [{ state: 'pending', arguments: args }] });
  expect(runs[1]).toMatchObject({ status: 'running', intent: null });

  const login = await access.redeemLoginCode(access.createLoginCode());
  const authorization = `Bearer ${login?.secret}`;
  const approved = await ask(`/runs/${paused.id}/approve`, 'POST', { authorization });
  expect(approved.body.approvals).toMatchObject([{ state: 'approved', settled_by: 'dashboard' }]);
  const late = await ask(`/runs/${paused.id}/reject`, 'POST');
  expect({ status: late.status, code: late.body.error.code }).toEqual({
    status: 409,
    code: 'store_conflict',
  });
  const rejected = await ask('/runs/still-waiting/reject', 'POST');
  expect(rejected.body.approvals).toMatchObject([{ state: 'rejected', settled_by: 'api' }]);
  expect((await ask(`/runs/${paused.id}`)).body.approvals).toMatchObject([{ state: 'approved' }]);
});

test('[API-7] traces are listed in pages without events, and shown one by one with them', async () => {
  const gateway = handMadeGateway();
  const traces = [1, 2, 3].map((n) => sampleTrace({ sessionId: n === 2 ? 'other' : 'mine' }));
  for (const trace of traces) await gateway.store.traces.append(trace);
  const { ask } = await serve(gateway);
  const ids = (body: { traces: { id: string }[] }) => body.traces.map(({ id }) => id);

  const first = (await ask('/traces?limit=2')).body;
  expect(ids(first)).toEqual([traces[2]?.id, traces[1]?.id]);
  expect(first.traces[0]).not.toHaveProperty('events');
  const second = (await ask(`/traces?limit=2&before=${first.next}`)).body;
  expect(ids(second)).toEqual([traces[0]?.id]);
  expect(second.next).toBeNull();
  expect(ids((await ask('/traces?session=other')).body)).toEqual([traces[1]?.id]);
  const whole = (await ask(`/traces/${traces[0]?.id}`)).body;
  expect(whole).toMatchObject({ id: traces[0]?.id, run_id: traces[0]?.runId });
  expect(whole.events.length).toBeGreaterThan(0);
});

test('[API-7] a trace is shown with its program and the values passed between calls', async () => {
  const gateway = handMadeGateway();
  const [find, read] = [toolId('files', 'find'), toolId('files', 'read')];
  const call = (traceId: string, node: ToolId, ts: number, args: unknown, result: unknown): TraceEvent[] => [
    { type: 'tool_start', traceId, parentTraceId: null, node, ts, args },
    {
      type: 'tool_end',
      traceId,
      parentTraceId: null,
      node,
      ts: ts + 1,
      success: true,
      durationMs: 1,
      result,
    },
  ];
  const trace = sampleTrace({
    events: [
      ...call('a', find, 1, { name: 'notes' }, { hits: [{ path: '/srv/notes-2026.md' }] }),
      ...call('b', read, 3, { path: '/srv/notes-2026.md' }, 'hello'),
    ],
  });
  await gateway.store.traces.append(trace);
  const { body } = await (await serve(gateway)).ask(`/traces/${trace.id}`);
  expect(body.code).toBe(trace.code);
  expect(body.value_flow).toEqual([
    {
      from: find,
      to: read,
      from_path: 'hits[0].path',
      to_path: 'path',
      from_trace_id: 'a',
      to_trace_id: 'b',
    },
  ]);
});
