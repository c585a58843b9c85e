import type { Hono } from 'hono';
import type { RunOrigin } from '../../../core/vocabulary/execution-trace.ts';
import type { WireTraceEvent } from '../../../core/vocabulary/trace-event.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { maySee } from '../../../engine/people/roles.ts';
import type { EventLog, NumberedEvent } from '../../../engine/traces/event-log.ts';
import { whoIs } from '../guard.ts';

const DEFAULTS = {
  /** Events of one run that are told to whoever comes in the middle; the rest is in its trace when it ends. */
  kept: 2_000,
};

interface UnderWay extends Pick<NumberedEvent, 'ownership'> {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly origin: RunOrigin;
  readonly intent: string | null;
  readonly started_at: string;
  readonly events: (WireTraceEvent & { readonly at: string })[];
}

/** `/api/live`: the runs under way with what they have done so far, and where following on begins. */
export function liveRunRoutes(api: Hono, { events }: Gateway, lastEventId: () => string): void {
  const underWay = trackRuns(events);
  api.get('/live', (context) => {
    const who = whoIs(context);
    const runs = [...underWay.values()].filter(({ ownership }) => maySee(who, ownership));
    return context.json({
      runs: runs.map(({ ownership: _, ...run }) => run),
      last_event_id: lastEventId(),
    });
  });
}

function trackRuns(log: EventLog): ReadonlyMap<string, UnderWay> {
  const runs = new Map<string, UnderWay>();
  const note = ({ event, at, ownership }: NumberedEvent) => {
    if (event.type === 'run_started') {
      const { run_id, session_id, origin, intent } = event;
      runs.set(run_id, { run_id, session_id, origin, intent, started_at: at, events: [], ownership });
    }
    if (event.type === 'trace_event') {
      const run = runs.get(event.run_id);
      if (run && run.events.length < DEFAULTS.kept) run.events.push({ ...event.event, at });
    }
    if (event.type === 'run_finished') runs.delete(event.run_id);
  };
  for (const event of log.since(0) ?? []) note(event);
  log.follow(note);
  return runs;
}
