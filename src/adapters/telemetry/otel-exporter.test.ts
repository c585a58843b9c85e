import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createMemoryLogger } from '../../../test/memory/logger.ts';
import { sampleTrace } from '../../../test/support/samples.ts';
import { capabilityNode, type NodeId, operationId, toolId } from '../../core/vocabulary/ids.ts';
import type { ErrorType, TraceEvent } from '../../core/vocabulary/trace-event.ts';
import { createOtelExporter } from './otel-exporter.ts';

interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

afterEach(() => vi.unstubAllEnvs());

/** A receiver as a collector is one, and the standard variables that point at it. */
async function receiver(status = 200): Promise<Request[]> {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      requests.push({ path: request.url ?? '', headers: request.headers, text });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20abc');
  vi.stubEnv('OTEL_SERVICE_NAME', 'my-agents');
  return requests;
}

async function exporter() {
  const logger = createMemoryLogger();
  const opened = await createOtelExporter({ env: process.env, version: '1.2.3', logger });
  return { exporter: opened!, logger };
}

function spansOf(requests: readonly Request[]): ReceivedSpan[] {
  return requests
    .flatMap(({ text }) => JSON.parse(text).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);
}

function attributesOf(span: ReceivedSpan): Record<string, unknown> {
  return Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

const read = toolId('filesystem', 'read_file');
const filter = operationId('filter');
const capability = capabilityNode('00000000-0000-4000-8000-000000000000');

function call(
  id: string,
  parentTraceId: string | null,
  node: NodeId,
  from: number,
  to: number,
  errorType?: ErrorType,
): TraceEvent[] {
  const kind = node === capability ? 'capability' : 'tool';
  const base = { traceId: id, parentTraceId, node };
  const args = { path: 'private-argument' };
  const outcome = {
    success: errorType === undefined,
    ...(errorType && { errorType, error: 'private-error' }),
  };
  return [
    { ...base, type: `${kind}_start` as 'tool_start', ts: from, args },
    {
      ...base,
      type: `${kind}_end` as 'tool_end',
      ts: to,
      durationMs: to - from,
      result: 'private-result',
      ...outcome,
    },
  ];
}

const trace = sampleTrace({
  executedAt: new Date('2026-03-04T05:06:07.089Z'),
  durationMs: 20,
  sessionId: 'session-1',
  intentText: 'private-intent',
  code: 'private-code',
  success: false,
  errorType: 'NOT_FOUND',
  events: [
    ...call('a', null, capability, 1, 18),
    // Parallel, and told in another order than they happened.
    ...call('d', 'a', filter, 9.5, 9.5),
    ...call('b', 'a', read, 2, 9.25),
    ...call('c', 'a', read, 3, 8, 'NOT_FOUND'),
    ...call('e', null, read, 18.5, 19).slice(0, 1),
  ],
});

test('[OTEL-1] each run is one tree of spans: true parents, times, outcomes', async () => {
  const requests = await receiver();
  const { exporter: otel, logger } = await exporter();
  otel.export(trace);
  await otel.close();

  expect(requests[0]).toMatchObject({ path: '/v1/traces', headers: { authorization: 'Bearer abc' } });
  const resource = JSON.parse(requests[0]!.text).resourceSpans[0].resource.attributes;
  expect(resource).toContainEqual({ key: 'service.name', value: { stringValue: 'my-agents' } });

  const spans = spansOf(requests);
  const nameOf = new Map(spans.map((span) => [span.spanId, attributesOf(span)['pml.call_id'] ?? 'run']));
  const origin = BigInt(trace.executedAt.getTime()) * 1_000_000n;
  const inRun = (nano: string) => Number(BigInt(nano) - origin) / 1e6;
  const seen = spans.map((span) => ({
    call: nameOf.get(span.spanId),
    parent: nameOf.get(span.parentSpanId ?? '') ?? null,
    name: span.name,
    from: Math.round(inRun(span.startTimeUnixNano) * 100) / 100,
    to: Math.round(inRun(span.endTimeUnixNano) * 100) / 100,
    failed: span.status.code === 2,
  }));
  expect(seen.sort((one, other) => one.from - other.from)).toEqual([
    { call: 'run', parent: null, name: 'pml run', from: 0, to: 20, failed: true },
    { call: 'a', parent: 'run', name: capability, from: 1, to: 18, failed: false },
    { call: 'b', parent: 'a', name: 'tools/call read_file', from: 2, to: 9.25, failed: false },
    { call: 'c', parent: 'a', name: 'tools/call read_file', from: 3, to: 8, failed: true },
    { call: 'd', parent: 'a', name: filter, from: 9.5, to: 9.5, failed: false },
    { call: 'e', parent: 'run', name: 'tools/call read_file', from: 18.5, to: 18.5, failed: true },
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const failed = attributesOf(spans.find(({ spanId }) => nameOf.get(spanId) === 'c')!);
  expect(failed).toEqual({
    'pml.node': read,
    'pml.kind': 'tool',
    'pml.run_id': trace.runId,
    'pml.call_id': 'c',
    'pml.success': false,
    'error.type': 'NOT_FOUND',
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'read_file',
  });
  expect(logger.lines).toEqual([]);
});

test('[OTEL-8] a run belongs to the trace of its request, and a call has the span id that its server got', async () => {
  const requests = await receiver();
  const { exporter: otel } = await exporter();
  const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const callId = '0190163d-8694-4a3e-9c2f-1f2e3d4c5b6a';
  const [start, end] = call(callId, null, read, 1, 2);
  const within = (flags: string) => ({ ...start!, traceparent: `00-${traceId}-${spanId}-${flags}` });
  otel.export(sampleTrace({ events: [within('01'), end!] }));
  // The client does not record this trace.
  otel.export(sampleTrace({ events: [within('00'), end!] }));
  const own = sampleTrace({ runId: callId, events: [start!, end!] });
  otel.export(own);
  await otel.close();
  const seen = spansOf(requests).map((span) => [span.name, span.traceId, span.parentSpanId ?? null]);
  const [first, second] = spansOf(requests).filter(({ name }) => name === 'pml run');
  expect(seen.toSorted()).toEqual(
    [
      ['pml run', traceId, spanId],
      ['tools/call read_file', traceId, first!.spanId],
      ['pml run', callId.replaceAll('-', ''), null],
      ['tools/call read_file', callId.replaceAll('-', ''), second!.spanId],
    ].toSorted(),
  );
  const calls = spansOf(requests).filter(({ name }) => name !== 'pml run');
  expect(calls.map((span) => span.spanId)).toEqual(['9c2f1f2e3d4c5b6a', '9c2f1f2e3d4c5b6a']);
});

test('[OTEL-2] no argument, result, intent, code or error text is sent', async () => {
  const requests = await receiver();
  const { exporter: otel } = await exporter();
  otel.export(trace);
  await otel.close();
  expect(requests.length).toBe(1);
  expect(requests[0]!.text).not.toContain('private');
});

test('[OTEL-3] nothing is loaded or sent unless the standard variables ask for it', async () => {
  const logger = createMemoryLogger();
  const load = vi.fn();
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const quiet = [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { OTEL_SERVICE_NAME: 'x' },
    { ...endpoint, OTEL_SDK_DISABLED: 'true' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
  ];
  for (const env of quiet) expect(await createOtelExporter({ env, version: '1', logger }, load)).toBeNull();
  expect(logger.lines).toEqual([]);
  const grpc = { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  expect(await createOtelExporter({ env: grpc, version: '1', logger }, load)).toBeNull();
  expect(logger.lines).toMatchObject([{ fields: { hint: expect.stringContaining('4318') } }]);
  expect(load).not.toHaveBeenCalled();
});

test('[OTEL-4] without the packages PML says how to install them and continues', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(name, context, next) {
        if (name.startsWith('@opentelemetry/')) throw new Error('Cannot find package ' + name);
        return next(name, context);
      },
    });
    const { createOtelExporter } = await import(${JSON.stringify(new URL('otel-exporter.ts', import.meta.url).href)});
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces' };
    const log = (level, message, fields) => console.log(JSON.stringify({ level, ...fields }));
    console.log(await createOtelExporter({ env, version: '1', logger: { log } }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const [line, opened] = stdout.trim().split('\n');
  expect(JSON.parse(line!)).toMatchObject({
    level: 'warn',
    hint: expect.stringContaining('npm install @opentelemetry/api @opentelemetry/sdk-trace'),
  });
  expect(opened).toBe('null');
});

test('[OTEL-5] a run of ten thousand calls arrives complete', async () => {
  const requests = await receiver();
  const { exporter: otel } = await exporter();
  const events = Array.from({ length: 10_000 }, (_, i) => call(`t${i}`, null, read, i, i + 0.5)).flat();
  otel.export(sampleTrace({ events }));
  await otel.close();
  expect(spansOf(requests).length).toBe(10_001);
});

test('[OTEL-6] a refusal by the receiver is logged and fails nothing; spans after close are dropped', async () => {
  const requests = await receiver(400);
  const { exporter: otel, logger } = await exporter();
  otel.export(trace);
  await otel.close();
  otel.export(trace);
  await otel.close();
  expect(requests.length).toBe(1);
  expect(logger.lines).toMatchObject([{ level: 'warn', message: 'OpenTelemetry cannot send all spans' }]);
});

test('[OTEL-7] an answered request becomes a span of its own, and a failed one an error', async () => {
  const requests = await receiver();
  const { exporter: sender } = await exporter();
  const startedAt = new Date('2026-11-15T10:00:00.250Z');
  const route = '/api/traces/:id';
  sender.exportRequest({ method: 'GET', route, status: 200, startedAt, durationMs: 12.5 });
  sender.exportRequest({ method: 'GET', route, status: 503, startedAt, durationMs: 1 });
  await sender.close();
  const [fine, failed] = spansOf(requests);
  expect(fine?.name).toBe('GET /api/traces/:id');
  expect(fine?.parentSpanId ?? '').toBe('');
  expect(BigInt(fine!.endTimeUnixNano) - BigInt(fine!.startTimeUnixNano)).toBe(12_500_000n);
  expect(attributesOf(fine!)).toEqual({
    'http.request.method': 'GET',
    'http.route': route,
    'http.response.status_code': 200,
  });
  expect([fine?.status.code, failed?.status.code]).toEqual([0, 2]);
});
