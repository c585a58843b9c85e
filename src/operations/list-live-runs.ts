import { z } from 'zod';
import { RUN_ORIGINS } from '../core/vocabulary/execution-trace.ts';
import { maySee } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';
import { traceEvent } from './shapes/trace.ts';

export const listLiveRuns = operation({
  name: 'list_live_runs',
  right: 'read',
  summary: 'Runs under way with what they have done so far, and where to follow the events from',
  input: z.strictObject({}),
  output: z.object({
    runs: z.array(
      z.object({
        run_id: z.string(),
        session_id: z.string().nullable(),
        origin: z.enum(RUN_ORIGINS),
        intent: z.string().nullable(),
        started_at: z.string(),
        /** Each with the moment it was told. */
        events: z.array(traceEvent.extend({ at: z.string() })),
      }),
    ),
    last_event_id: z.string(),
  }),
  http: { method: 'GET', path: '/live' },
  async run({ liveRuns, lastEventId }, _, caller) {
    const who = askerOf(caller);
    const runs = [...liveRuns().values()].filter(({ ownership }) => maySee(who, ownership));
    return { runs: runs.map(({ ownership: _own, ...run }) => run), last_event_id: lastEventId() };
  },
});
