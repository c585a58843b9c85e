import { LRUCache } from 'lru-cache';
import { continuesJob, isStep, sharesValue } from '../../core/tracing/jobs.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { Settings, Store } from '../ports.ts';

const DEFAULTS = {
  /** Milliseconds between two calls of one job at the most: an agent thinks, and may ask a person. */
  gapMs: 300_000,
  /** Sessions whose jobs are kept in mind; the store knows the others. */
  sessions: 500,
  /** Traces of a session that are looked through for the beginning of a job. */
  lookBack: 60,
};

/** The single calls of sessions as jobs. */
export interface Jobs {
  /**
   * The steps before this one in its job, in order; none where it begins a job, or is not a step. Traces of a session must
   * come in the order they were stored.
   */
  before(trace: ExecutionTrace): Promise<readonly ExecutionTrace[]>;
  /** The job that the newest trace of a session belongs to; empty where that is none, or was long ago. */
  current(sessionId: string, now: Date): readonly ExecutionTrace[];
}

export function segmentGap({ learning }: Pick<Settings, 'learning'>): number {
  return learning.segmentGapMs ?? DEFAULTS.gapMs;
}

export function createJobs(store: Pick<Store, 'traces'>, gapMs: () => number = () => DEFAULTS.gapMs): Jobs {
  /** By session: the job that its newest trace belongs to; empty where that was no step. */
  const open = new LRUCache<string, readonly ExecutionTrace[]>({ max: DEFAULTS.sessions });

  const withNext = (job: readonly ExecutionTrace[], next: ExecutionTrace): readonly ExecutionTrace[] => {
    if (!isStep(next)) return [];
    return continuesJob(job, next, gapMs(), () => sharesValue(job, next)) ? [...job, next] : [next];
  };

  async function jobBefore(sessionId: string, { id }: ExecutionTrace): Promise<readonly ExecutionTrace[]> {
    const known = open.get(sessionId);
    if (known) return known;
    const earlier = await store.traces.list({ sessionId, before: id, limit: DEFAULTS.lookBack });
    return earlier.reverse().reduce(withNext, []);
  }

  return {
    current(sessionId, now) {
      const job = open.get(sessionId) ?? [];
      const last = job.at(-1);
      return last && now.getTime() - last.executedAt.getTime() - last.durationMs <= gapMs() ? job : [];
    },
    async before(trace) {
      const { sessionId } = trace;
      if (sessionId === null) return [];
      const before = await jobBefore(sessionId, trace);
      // Asked again, it does not come before itself.
      const at = before.findIndex(({ id }) => id === trace.id);
      if (at >= 0) return before.slice(0, at);
      const job = withNext(before, trace);
      open.set(sessionId, job);
      return job.slice(0, -1);
    },
  };
}
