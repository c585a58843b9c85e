import { z } from 'zod';
import { maySee } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf, notFound } from './operation-context.ts';
import { seenTraceToWire, trace } from './shapes/trace.ts';

export const getTrace = operation({
  name: 'get_trace',
  right: 'read',
  summary: 'One trace with its events, its program, the data flow between calls, and the events of its run',
  input: z.strictObject({ trace_id: z.string() }),
  output: trace,
  http: { method: 'GET', path: '/traces/:trace_id' },
  async run({ gateway }, { trace_id: id }, caller) {
    const found = await gateway.store.traces.get(id);
    if (!found || !maySee(askerOf(caller), found)) throw notFound('Trace', id, 'See GET /api/traces.');
    return seenTraceToWire(found, await gateway.store.episodes.list(found.runId));
  },
});
