import { z } from 'zod';
import { maySee } from '../engine/people/roles.ts';
import type { ReplayReport } from '../engine/runs/run-service.ts';
import { operation } from './operation.ts';
import { askerOf, notFound } from './operation-context.ts';

/** Where a run first differs from the recorded one. */
export const difference = z
  .object({
    what: z.enum(['tool', 'arguments', 'result', 'error', 'missing', 'extra']),
    /** `filesystem:read_file#0`; null: the program itself. */
    call: z.string().nullable(),
    /** In the arguments or the result: `items[0].id`; empty: as a whole. */
    path: z.string(),
    recorded: z.unknown(),
    replayed: z.unknown(),
  })
  .meta({ id: 'Difference' });

export const replayTrace = operation({
  name: 'replay_trace',
  right: 'run',
  summary: 'Replays a recorded run and reports the first difference',
  input: z.strictObject({
    trace_id: z.string(),
    /** Its recorded calls stand in for the servers, or the servers are asked again, where all tools only read. */
    against: z.enum(['cassette', 'live']).default('cassette'),
    /** Names or paths of fields that may differ. */
    ignore: z.array(z.string().max(1_000)).max(100).default([]),
  }),
  output: z.object({
    trace_id: z.string(),
    against: z.enum(['cassette', 'live']),
    equal: z.boolean(),
    difference: difference.nullable(),
    /** Recorded calls of tools and capabilities. */
    calls: z.number(),
    /** Calls whose stored results were redacted or cut. */
    not_whole: z.array(z.string()),
    /** The trace that a live replay left. */
    replay_trace_id: z.string().nullable(),
  }),
  http: { method: 'POST', path: '/traces/:trace_id/replay' },
  async run({ gateway }, { trace_id: id, against, ignore }, caller) {
    const found = await gateway.store.traces.get(id);
    if (!found || !maySee(askerOf(caller), found)) throw notFound('Trace', id, 'See GET /api/traces.');
    return reportToWire(await gateway.replayRun(found, { against, ignore }, caller));
  },
});

function reportToWire(report: ReplayReport) {
  const { traceId, against, isEqual, difference, calls, notWhole, replayTraceId } = report;
  return {
    trace_id: traceId,
    against,
    equal: isEqual,
    difference,
    calls,
    not_whole: notWhole,
    replay_trace_id: replayTraceId,
  };
}
