import type { Hono } from 'hono';
import { traceSummaryToWire } from '../../../core/vocabulary/execution-trace.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { seenTraceToWire } from '../../../engine/gateway-wire.ts';
import { maySee, visibleTo } from '../../../engine/people/roles.ts';
import { whoIs } from '../guard.ts';
import { countParameter, textParameter } from './parameters.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

export function traceRoutes(api: Hono, { store }: Gateway): void {
  api.get('/traces', async (context) => {
    const limit = countParameter(context, 'limit', DEFAULTS.limit, DEFAULTS.maxLimit);
    const before = textParameter(context, 'before');
    const sessionId = textParameter(context, 'session');
    const traces = await store.traces.list({
      limit,
      ...(before !== undefined && { before }),
      ...(sessionId !== undefined && { sessionId }),
      ...visibleTo(whoIs(context)),
    });
    return context.json({
      traces: traces.map(traceSummaryToWire),
      /** What to give as `before` for the next page. */
      next: traces.length === limit ? (traces.at(-1)?.id ?? null) : null,
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
