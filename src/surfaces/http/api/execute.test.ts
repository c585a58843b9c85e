import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { startHttp } from '../../../../test/support/http-gateway.ts';
import {
  sampleApproval,
  sampleCapability,
  sampleResult,
  sampleTool,
} from '../../../../test/support/samples.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { CapabilityService } from '../../../engine/capabilities/manage-capabilities.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { createApi } from './create-api.ts';

const RUN = sampleResult({ result: [1, 2], console: [{ level: 'log', text: 'hi' }] });

async function serve(parts: Partial<Gateway>) {
  const gateway = handMadeGateway(parts);
  const { listener, token } = await startHttp({ api: createApi(gateway, { log: () => {} }) });
  onTestFinished(() => listener.close());
  const headers = { authorization: `Bearer ${token}` };
  const post = async (path: string, body: unknown = undefined, init: RequestInit = {}) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await fetch(`${listener.url}/api${path}`, {
      method: 'POST',
      headers,
      ...(sent !== undefined && { body: sent }),
      ...init,
    });
    return { status: reply.status, body: JSON.parse(await reply.text()) };
  };
  const get = async (path: string) =>
    JSON.parse(await (await fetch(`${listener.url}/api${path}`, { headers })).text());
  return { gateway, post, get };
}

test('[API-13] POST /api/execute runs code, a capability or a tool', async () => {
  const asked: unknown[] = [];
  const run = async (call: unknown) => {
    asked.push(call);
    return RUN;
  };
  const { post } = await serve({
    executeCode: run,
    executeCapability: run,
    async executeTool(call) {
      asked.push(call);
      const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
      const toolResult = { content: [{ type: 'text', text: '{"a": 1}' }, image] };
      return sampleResult({ runId: 'run-2', traceId: 'trace-2', result: { a: 1 }, toolResult });
    },
  });
  const more = { arguments: { n: 1 }, intent: 'try', timeout_ms: 9 };
  const rest = { arguments: { n: 1 }, intent: 'try', timeoutMs: 9 };
  const told = { status: 'success', run_id: 'run-1', trace_id: 'trace-1', result: [1, 2], console: 'hi' };
  expect(await post('/execute', { code: 'return 1', ...more })).toEqual({ status: 200, body: told });
  expect((await post('/execute', { capability: 'add', ...more })).body).toEqual(told);
  expect((await post('/execute', { tool: 'a:b' })).body).toEqual({
    status: 'success',
    run_id: 'run-2',
    trace_id: 'trace-2',
    result: { a: 1 },
    content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
  });
  expect(asked).toEqual([
    { code: 'return 1', ...rest },
    { capability: 'add', ...rest },
    { tool: 'a:b', arguments: {} },
  ]);
});

test('[API-13] a failed run is an answer, an invalid request is 400', async () => {
  const error = { code: 'code_failed', message: 'Error: no', line: 1, column: 3 } as const;
  const failed = sampleResult({ status: 'error', traceId: null });
  const bad = { code: 'tool_failed', message: 'bad' } as const;
  const { post } = await serve({
    executeCode: async () => ({ ...failed, error }),
    executeTool: async () => ({
      ...failed,
      error: bad,
      toolResult: { content: [{ type: 'text', text: 'bad' }], isError: true },
    }),
  });
  expect(await post('/execute', { code: 'x' })).toEqual({
    status: 200,
    body: { status: 'error', run_id: 'run-1', trace_id: null, error },
  });
  expect((await post('/execute', { tool: 'a:b' })).body.error).toEqual(bad);
  for (const body of [
    '{',
    '[]',
    {},
    { code: '' },
    { code: 'x', tool: 'a:b' },
    { cod: 'x' },
    { code: 'x', timeout_ms: 0 },
  ]) {
    const wrong = await post('/execute', body);
    expect(wrong, JSON.stringify(body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_argument' } },
    });
  }
});

test('[API-30] a run that waits for a person says how to continue', async () => {
  const approval = sampleApproval({ runId: 'run-1' });
  const { post } = await serve({
    executeCode: async () => ({ ...RUN, status: 'approval_required', approvals: [approval] }),
    continueRun: async (runId, action) =>
      sampleResult({
        status: action === 'resume' ? 'success' : 'aborted',
        runId,
        results: { call: { result: 1 } },
        layers: [['call']],
        approvals: [approval],
      }),
  });
  const { body } = await post('/execute', { code: 'x' });
  expect(body).toMatchObject({
    status: 'approval_required',
    approval: { approval_id: approval.id, arguments: approval.arguments },
    how_to_settle: { approve: 'POST /api/runs/run-1/approve', afterwards: 'POST /api/runs/run-1/resume' },
  });
  expect(body).not.toHaveProperty('result');
  expect((await post('/runs/run-1/resume')).body).toMatchObject({
    status: 'success',
    run_id: 'run-1',
    results: { call: { result: 1 } },
    approvals: [{ approval_id: approval.id }],
  });
  expect((await post('/runs/run-1/abort')).body.status).toBe('aborted');
});

test('[API-14] a client that disconnects cancels its run', async () => {
  const leaving = new AbortController();
  let cancelled: Promise<unknown> = Promise.reject(new Error('nothing ran'));
  cancelled.catch(() => {});
  const { post } = await serve({
    async executeCode(_call, { signal }) {
      cancelled = once(signal!, 'abort');
      leaving.abort();
      await cancelled;
      return RUN;
    },
  });
  await expect(post('/execute', { code: 'x' }, { signal: leaving.signal })).rejects.toThrow('abort');
  await cancelled;
});

function shelf() {
  let one = sampleCapability({ slug: 'add_up', uses: 4, successes: 3 });
  const isThere = (slug: string) => {
    if (slug !== one.slug) throw new PmlError('not_found', `Capability ${slug} not found`);
  };
  const capabilities: Partial<CapabilityService> = {
    list: async () => [one],
    async show(slug) {
      isThere(slug);
      return one;
    },
    async rename(slug, to) {
      isThere(slug);
      one = { ...one, slug: to };
      return one;
    },
    async quarantine(slug, reason) {
      isThere(slug);
      const state = reason === null ? 'active' : 'quarantined';
      one = { ...one, state, evidence: { ...one.evidence, quarantinedBecause: reason } };
      return one;
    },
    forget: async () => true,
  };
  return capabilities as CapabilityService;
}

test('[API-15] /api/capabilities lists capabilities, and shows one with its code and evidence', async () => {
  const { get, post } = await serve({ capabilities: shelf() });
  const { capabilities } = await get('/capabilities');
  expect(capabilities).toMatchObject([
    { slug: 'add_up', state: 'active', success_rate: 0.75, reliability: expect.any(Number), uses: 4 },
  ]);
  expect(capabilities[0]).not.toHaveProperty('code');
  expect(await get('/capabilities/add_up')).toMatchObject({
    code: expect.stringContaining('mcp.filesystem'),
    evidence: { recent: [true, false, true], run_ids: ['run-1', 'run-2'] },
  });
  expect(await post('/capabilities/none/run')).toMatchObject({ status: 404 });
  expect(await get('/capabilities/none')).toMatchObject({ error: { code: 'not_found' } });
});

test('[API-16] a capability is run, renamed, quarantined and forgotten by POST', async () => {
  const asked: unknown[] = [];
  const { post } = await serve({
    capabilities: shelf(),
    async executeCapability(call) {
      asked.push(call);
      return RUN;
    },
  });
  expect((await post('/capabilities/add_up/run', { arguments: { n: 1 } })).body.result).toEqual([1, 2]);
  expect(asked).toEqual([{ capability: 'add_up', arguments: { n: 1 } }]);
  expect((await post('/capabilities/add_up/rename', { to: 'sum' })).body.slug).toBe('sum');
  expect((await post('/capabilities/sum/rename', {})).status).toBe(400);
  expect((await post('/capabilities/sum/quarantine', { reason: 'wrong sums' })).body).toMatchObject({
    state: 'quarantined',
    quarantined_because: 'wrong sums',
  });
  expect((await post('/capabilities/sum/quarantine', { lift: true })).body.state).toBe('active');
  expect((await post('/capabilities/sum/forget')).body).toEqual({ slug: 'sum', forgotten: true });
});

test('[API-4] /api/search returns signatures on request', async () => {
  const { get } = await serve({
    async searchTools({ signatures }) {
      const parts = { whole: 0, clause: 0, lexical: 0, name: 0, alpha: 1 };
      const scores = { semanticScore: 0, graphScore: 0, finalScore: 0, parts, related: [] };
      return [{ tool: sampleTool('a', 'b'), ...(signatures && { signature: 'mcp.a.b()' }), ...scores }];
    },
  });
  expect((await get('/search?q=x&signatures=true')).tools[0].signature).toBe('mcp.a.b()');
  expect((await get('/search?q=x')).tools[0]).not.toHaveProperty('signature');
});
