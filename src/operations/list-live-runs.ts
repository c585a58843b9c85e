import { z } from 'zod';
import { RUN_ORIGINS } from '../core/vocabulary/execution-trace.ts';
import { fromWire } from '../core/vocabulary/trace-event.ts';
import { maySee } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';
import { traceEvent } from './shapes/trace.ts';
import { noteOf } from './suggest.ts';

export const listLiveRuns = operation({
  name: 'list_live_runs',
  right: 'read',
  summary: 'Runs in progress with their events so far, and the event id to continue from',
  input: z.strictObject({}),
  output: z.object({
    runs: z.array(
      z.object({
        run_id: z.string(),
        session_id: z.string().nullable(),
        origin: z.enum(RUN_ORIGINS),
        intent: z.string().nullable(),
        started_at: z.string(),
        /** Each with the time it was reported. */
        events: z.array(traceEvent.extend({ at: z.string() })),
        /** That it fails, after so many calls, by past runs; null where they give no reason to worry. */
        risk: z.object({ chance: z.number(), calls: z.number(), note: z.string() }).nullable(),
      }),
    ),
    last_event_id: z.string(),
  }),
  http: { method: 'GET', path: '/live' },
  async run({ gateway, liveRuns, lastEventId }, _, caller) {
    const who = askerOf(caller);
    const runs = [...liveRuns().values()].filter(({ ownership }) => maySee(who, ownership));
    const last_event_id = lastEventId();
    const told = runs.map(async ({ ownership: _own, ...run }) => {
      const risk = await gateway.riskOf(run.events.map(fromWire));
      return { ...run, risk: risk && { chance: risk.chance, calls: risk.calls, note: noteOf(risk) } };
    });
    return { runs: await Promise.all(told), last_event_id };
  },
});
