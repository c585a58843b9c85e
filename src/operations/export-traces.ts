import { z } from 'zod';
import { type ExecutionTrace, traceToWire } from '../core/vocabulary/execution-trace.ts';
import { readTraces, tracePage } from '../engine/traces/select-traces.ts';
import { moment } from './input-fields.ts';
import { operation } from './operation.ts';
import { storedTrace } from './shapes/trace.ts';

export const exportTraces = operation({
  name: 'export_traces',
  right: 'bridge',
  summary: 'Whole traces as they are stored, oldest first, page by page; or those of some ids',
  input: z.strictObject({
    ids: z.array(z.string()).optional(),
    session_id: z.string().exactOptional(),
    since: moment.exactOptional(),
    /** The `next` of the page before. */
    after: z.int().min(0).default(0),
  }),
  output: z.object({
    traces: z.array(storedTrace),
    /** What to give as `after` for the next page; null after the last one. */
    next: z.number().nullable(),
  }),
  async run({ gateway: { store } }, { ids, session_id, after, ...rest }) {
    if (ids) {
      const found: ExecutionTrace[] = await Array.fromAsync(readTraces(store, ids));
      return { traces: found.map(traceToWire), next: null };
    }
    const selection = { ...rest, ...(session_id !== undefined && { sessionId: session_id }) };
    const { traces, next } = await tracePage(store, selection, after);
    return { traces: traces.map(traceToWire), next };
  },
});
