import { z } from 'zod';
import { readTraces, selectTraces } from '../engine/traces/select-traces.ts';
import { moment } from './input-fields.ts';
import { operation } from './operation.ts';
import { listedTrace, listedTraceToWire } from './shapes/trace.ts';

const DEFAULTS = { shown: 5 };

export const findTraces = operation({
  name: 'find_traces',
  right: 'bridge',
  summary: 'The ids of all traces that match, oldest first, and the first few of them',
  input: z.strictObject({
    /** Of these, those that exist; all else is ignored then. */
    ids: z.array(z.string()).optional(),
    session_id: z.string().exactOptional(),
    since: moment.exactOptional(),
    before: moment.exactOptional(),
    /** Glob on the ids of what was called. */
    tool: z.string().exactOptional(),
    /** Only the newest. */
    limit: z.int().min(1).exactOptional(),
  }),
  output: z.object({ ids: z.array(z.string()), shown: z.array(listedTrace) }),
  async run({ gateway: { store } }, { ids: named, session_id, ...rest }) {
    const selection = { ...rest, ...(session_id !== undefined && { sessionId: session_id }) };
    const ids: string[] = [];
    const shown: ReturnType<typeof listedTraceToWire>[] = [];
    for await (const trace of named ? readTraces(store, named) : selectTraces(store, selection)) {
      ids.push(trace.id);
      if (shown.length < DEFAULTS.shown) shown.push(listedTraceToWire(trace));
    }
    return { ids, shown };
  },
});
