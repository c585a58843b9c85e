import type { Context, Hono } from 'hono';
import { RUN_KINDS, traceSummaryToWire } from '../../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { seenTraceToWire } from '../../../engine/gateway-wire.ts';
import { maySee, visibleTo } from '../../../engine/people/roles.ts';
import type { TraceQuery } from '../../../engine/ports.ts';
import { whoIs } from '../guard.ts';
import { choiceParameter, countParameter, momentParameter, textParameter } from './parameters.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

export function traceRoutes(api: Hono, { store }: Gateway): void {
  api.get('/traces', async (context) => {
    const query = { ...queryOf(context), ...visibleTo(whoIs(context)) };
    const traces = await store.traces.list(query);
    return context.json({
      traces: traces.map(traceSummaryToWire),
      /** What to give as `before` for the next page. */
      next: traces.length === query.limit ? (traces.at(-1)?.id ?? null) : null,
    });
  });
  api.get('/traces/:id', async (context) => {
    const id = context.req.param('id');
    const trace = await store.traces.get(id);
    // What one may not see is not there.
    if (!trace || !maySee(whoIs(context), trace))
      throw new PmlError('not_found', `There is no trace ${id}`, { hint: 'See GET /api/traces.' });
    return context.json(seenTraceToWire(trace));
  });
}

/** What is asked for in the address; what is not there does not narrow it down. */
function queryOf(context: Context): TraceQuery {
  const status = choiceParameter(context, 'status', ['success', 'error']);
  const asked = {
    before: textParameter(context, 'before'),
    sessionId: textParameter(context, 'session'),
    runId: textParameter(context, 'run'),
    kind: choiceParameter(context, 'kind', RUN_KINDS),
    success: status && status === 'success',
    since: momentParameter(context, 'since'),
    until: momentParameter(context, 'until'),
    node: textParameter(context, 'tool'),
    server: textParameter(context, 'server'),
    text: textParameter(context, 'q'),
  };
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return {
    limit: countParameter(context, 'limit', DEFAULTS.limit, DEFAULTS.maxLimit),
    ...(Object.fromEntries(given) as Omit<TraceQuery, 'limit'>),
  };
}
