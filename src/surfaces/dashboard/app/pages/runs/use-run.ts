import type { Trace, TraceSummary, Traces } from '../../../shared/api-types.ts';
import { ApiError, getJson } from '../../api.ts';
import { type Resource, useResource } from '../../resource.ts';

const DEFAULTS = { parts: 50 };

export interface LoadedRun {
  /** Null while nothing of it is stored. */
  readonly trace: Trace | null;
  /** Every trace of the same run, oldest first: it has several if it waited in between. */
  readonly parts: readonly TraceSummary[];
}

/** A run by the id of its trace, or by its own: then its latest trace. */
export function useRun(id: string): Resource<LoadedRun> {
  let runId = id;
  return useResource<LoadedRun>(`run ${id}`, {
    async load(signal) {
      const loaded = await loadRun(id, signal);
      runId = loaded.trace?.run_id ?? id;
      return loaded;
    },
    reloadOn: (event) => event.type === 'run_finished' && (event.run_id === id || event.run_id === runId),
  });
}

async function loadRun(id: string, signal: AbortSignal): Promise<LoadedRun> {
  const named = await traceOf(id, signal);
  const run = named?.run_id ?? id;
  const { traces } = await getJson<Traces>('/traces', { run, limit: DEFAULTS.parts }, signal);
  const trace = named ?? (traces[0] ? await traceOf(traces[0].id, signal) : null);
  return { trace, parts: traces.toReversed() };
}

async function traceOf(id: string, signal: AbortSignal): Promise<Trace | null> {
  try {
    return await getJson<Trace>(`/traces/${encodeURIComponent(id)}`, {}, signal);
  } catch (thrown) {
    if (ApiError.from(thrown).status === 404) return null;
    throw thrown;
  }
}
