import type { LiveRun, LiveRuns, LiveTraceEvent } from '../../../shared/api-types.ts';
import type { LiveEvent } from '../../../shared/events.ts';
import { getJson } from '../../api.ts';
import { type Resource, useResource } from '../../resource.ts';

const DEFAULTS = {
  /** Runs that are over and still shown as they were followed, until their traces are there. */
  over: 50,
};

export interface FollowedRun extends LiveRun {
  /** Once it is over. */
  readonly end?: {
    readonly traceId: string | null;
    readonly status: string;
    readonly durationMs: number;
  };
}

/** The newest first. */
export interface FollowedRuns {
  readonly runs: readonly FollowedRun[];
}

/** The runs under way, and those that ended while one looked. */
export function useLiveRuns(): Resource<FollowedRuns> {
  return useResource<FollowedRuns>('live', {
    load: async (signal) => ({ runs: (await getJson<LiveRuns>('/live', {}, signal)).runs.toReversed() }),
    apply: followRuns,
  });
}

/** Told twice, an event changes nothing the second time. */
export function followRuns(data: FollowedRuns, event: LiveEvent): FollowedRuns {
  switch (event.type) {
    case 'run_started': {
      const { run_id, session_id, origin, intent, at } = event;
      const before = data.runs.find((run) => run.run_id === run_id);
      if (before && !before.end) return data;
      const run = { run_id, session_id, origin, intent, started_at: at, events: [] };
      return { runs: pruned([run, ...data.runs.filter((other) => other !== before)]) };
    }
    case 'trace_event': {
      const told: LiveTraceEvent = { ...event.event, at: event.at };
      return changed(data, event.run_id, (run) =>
        run.events.some((known) => known.trace_id === told.trace_id && known.type === told.type)
          ? run
          : { ...run, events: [...run.events, told] },
      );
    }
    case 'run_finished': {
      const { run_id, trace_id: traceId, status, duration_ms: durationMs } = event;
      return changed(data, run_id, (run) =>
        run.end ? run : { ...run, end: { traceId, status, durationMs } },
      );
    }
    default:
      return data;
  }
}

function changed(data: FollowedRuns, runId: string, change: (run: FollowedRun) => FollowedRun): FollowedRuns {
  const at = data.runs.findIndex((run) => run.run_id === runId);
  const before = data.runs[at];
  if (!before) return data;
  const after = change(before);
  return after === before ? data : { runs: data.runs.with(at, after) };
}

function pruned(runs: readonly FollowedRun[]): FollowedRun[] {
  const over = runs.filter(({ end }) => end).slice(DEFAULTS.over);
  return runs.filter((run) => !over.includes(run));
}
