import { expect, test } from 'vitest';
import type { JsonObject, TraceExporter } from '../../src/engine/ports.ts';
import { createMemoryTraceExporter } from '../memory/trace-exporter.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { connectClient, ERAS, fetchInto, openEndpoints, rawRequest } from '../support/mcp-endpoints.ts';
import { testGateway } from '../support/test-gateway.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const OUTER = `00-${TRACE}-00f067aa0ba902b7-01`;

/** A gateway with one server, which remembers the context it was called with. */
async function open(exporter: TraceExporter | null, era: (typeof ERAS)[number] = 'legacy') {
  const told: JsonObject[] = [];
  const server: MemoryServer = {
    name: 'disk',
    tools: [
      {
        definition: { name: 'read', inputSchema: { type: 'object' } },
        call: (_args, { meta }) => {
          told.push({ traceparent: meta.traceparent, tracestate: meta.tracestate });
          return { content: [{ type: 'text', text: 'read' }] };
        },
      },
    ],
  };
  const made = await testGateway({ servers: [server], exporter });
  const client = await connectClient(fetchInto(openEndpoints(made.gateway)), { era });
  const run = async (args: JsonObject, _meta: JsonObject, tool = 'pml_execute') => {
    await rawRequest(client, 'tools/call', { name: tool, arguments: args, _meta });
    await made.gateway.settled();
    const [trace] = await made.store.traces.list({ limit: 1 });
    return (await made.store.traces.get(trace!.id))!;
  };
  return { told, run };
}

const CODE = { code: 'return await mcp.disk.read({})' };
const WORKFLOW = { workflow: { tasks: [{ id: 'a', tool: 'disk:read', arguments: {} }] } };

test.each(ERAS)('[OTEL-8] a request’s trace context is kept with the run and passed on, %s', async (era) => {
  const { told, run } = await open(null, era);
  const meta = { traceparent: OUTER, tracestate: 'rojo=1' };
  const traces = [
    await run({ tool: 'disk:read' }, meta),
    await run(CODE, meta),
    await run(WORKFLOW, meta, 'pml_execute_workflow'),
  ];
  expect(told).toEqual([meta, meta, meta]);
  for (const { events } of traces) expect(events[0]).toMatchObject({ traceparent: OUTER });
});

test('[OTEL-8] with export on, a server gets the span of its call', async () => {
  const { told, run } = await open(createMemoryTraceExporter());
  const within = await run(CODE, { traceparent: OUTER });
  const alone = await run(CODE, {});
  const spanOf = ({ events }: typeof within) => events[0]!.traceId.replaceAll('-', '').slice(16);
  expect(told.map(({ traceparent }) => traceparent)).toEqual([
    `00-${TRACE}-${spanOf(within)}-01`,
    `00-${alone.runId.replaceAll('-', '')}-${spanOf(alone)}-01`,
  ]);
  expect(alone.events[0]).not.toHaveProperty('traceparent');
});

test('[OTEL-8] an invalid context is ignored', async () => {
  const { told, run } = await open(null);
  const wrong = [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `${OUTER}-more`, 'x'.repeat(100_000), 7];
  for (const traceparent of wrong)
    expect((await run(CODE, { traceparent })).events[0]).not.toHaveProperty('traceparent');
  await run(CODE, { traceparent: OUTER, tracestate: 'x'.repeat(513) });
  expect(told).toEqual([...wrong.map(() => ({})), { traceparent: OUTER }]);
});
