import { z } from 'zod';
import { RUN_KINDS } from '../core/vocabulary/execution-trace.ts';
import { visibleTo } from '../engine/people/roles.ts';
import type { TraceQuery } from '../engine/ports.ts';
import { count, moment } from './input-fields.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';
import { listedTrace, listedTraceToWire } from './shapes/trace.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

const input = z.strictObject({
  limit: count(DEFAULTS.limit, DEFAULTS.maxLimit),
  /** `next` of the previous page. */
  before: z.string().optional(),
  session_id: z.string().optional(),
  run_id: z.string().optional(),
  kind: z.enum(RUN_KINDS).optional(),
  status: z.enum(['success', 'error']).optional(),
  since: moment.optional(),
  until: moment.optional(),
  /** A tool or capability that was called. */
  node: z.string().optional(),
  server: z.string().optional(),
  text: z.string().optional(),
});

export const listTraces = operation({
  name: 'list_traces',
  right: 'read',
  summary: 'Traces, newest first, page by page, without their events',
  input,
  output: z.object({
    traces: z.array(listedTrace),
    /** Value of `before` for the next page. */
    next: z.string().nullable(),
  }),
  http: {
    method: 'GET',
    path: '/traces',
    query: { session_id: 'session', run_id: 'run', node: 'tool', text: 'q' },
  },
  async run({ gateway }, asked, caller) {
    const traces = await gateway.store.traces.list({
      ...queryOf(asked),
      ...visibleTo(askerOf(caller)),
      byTime: true,
    });
    return {
      traces: traces.map(listedTraceToWire),
      next: traces.length === asked.limit ? (traces.at(-1)?.id ?? null) : null,
    };
  },
});

/** Absent filters are left out. */
function queryOf({ session_id, run_id, status, ...rest }: z.output<typeof input>): TraceQuery {
  const asked = {
    ...rest,
    sessionId: session_id,
    runId: run_id,
    success: status && status === 'success',
  };
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as TraceQuery;
}
