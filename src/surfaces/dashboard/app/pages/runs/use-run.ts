import type { Capabilities, LiveRuns, Trace, TraceSummary, Traces } from '../../../shared/api-types.ts';
import { ApiError, getJson } from '../../api.ts';
import { type Resource, useResource } from '../../resource.ts';
import { nameOf } from './run-row.ts';

const DEFAULTS = { parts: 50 };

export interface LoadedRun {
  /** Null while nothing is stored. */
  readonly trace: Trace | null;
  /** All traces of the same run, oldest first: it has several if it had to wait. */
  readonly parts: readonly TraceSummary[];
}

/** A run by the id of its trace, or by its own id: then its latest trace. */
export function useRun(id: string): Resource<LoadedRun> {
  const run: Resource<LoadedRun> = useResource<LoadedRun>(`run ${id}`, {
    load: (signal) => loadRun(id, signal),
    // A single call is answered before its trace is stored.
    reloadOn: (event) =>
      event.type === 'run_finished' &&
      (event.run_id === id || event.trace_id === id || event.run_id === run.state.peek().data?.trace?.run_id),
  });
  return run;
}

async function loadRun(id: string, signal: AbortSignal): Promise<LoadedRun> {
  // In this order: a run that ends in between is found among the stored ones.
  const live = await getJson<LiveRuns>('/live', {}, signal);
  const parts = await partsOf(id, signal);
  const newest = parts.at(-1);
  if (newest) return { trace: await traceOf(newest.id, signal), parts };
  if (live.runs.some(({ run_id }) => run_id === id)) return { trace: null, parts };
  const trace = await traceOf(id, signal);
  return { trace, parts: trace ? await partsOf(trace.run_id, signal) : [] };
}

async function partsOf(run: string, signal: AbortSignal): Promise<TraceSummary[]> {
  return (await getJson<Traces>('/traces', { run, limit: DEFAULTS.parts }, signal)).traces.toReversed();
}

async function traceOf(id: string, signal: AbortSignal): Promise<Trace | null> {
  try {
    return await getJson<Trace>(`/traces/${encodeURIComponent(id)}`, {}, signal);
  } catch (thrown) {
    if (ApiError.from(thrown).status === 404) return null;
    throw thrown;
  }
}

/** A readable name of a node: a capability's slug, otherwise the id. */
export function useNodeNames(): (node: string) => string {
  const { data } = useResource<Capabilities>('capability names', {
    load: (signal) => getJson('/capabilities', {}, signal),
    reloadOn: ({ type }) => type === 'capability_changed',
  }).state.value;
  return (node) => {
    const found = data?.capabilities.find(({ id }) => node === `capability:${id}`);
    return found ? `capabilities.${found.slug}` : nameOf(node);
  };
}
