import type { LiveRun, LiveRuns, LiveTraceEvent } from '../../../shared/api-types.ts';
import type { LiveEvent } from '../../../shared/events.ts';
import { getJson } from '../../api.ts';
import { type Resource, useResource } from '../../resource.ts';

const DEFAULTS = {
  /** Finished runs that stay in the live list until their traces are loaded. */
  over: 50,
};

export interface FollowedRun extends LiveRun {
  /** Set when the run has ended. */
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

/** The running runs, and those that ended while the page was open. */
export function useLiveRuns(): Resource<FollowedRuns> {
  return useResource<FollowedRuns>('live', {
    load: async (signal) => ({ runs: (await getJson<LiveRuns>('/live', {}, signal)).runs.toReversed() }),
    apply: followRuns,
  });
}

/** Applying an event twice has no further effect. */
export function followRuns(data: FollowedRuns, event: LiveEvent): FollowedRuns {
  switch (event.type) {
    case 'run_started': {
      const { run_id, session_id, origin, intent, at } = event;
      const before = data.runs.find((run) => run.run_id === run_id);
      if (before && !before.end) return data;
      const run = { run_id, session_id, origin, intent, started_at: at, events: [], risk: null };
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
