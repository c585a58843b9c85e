import { LRUCache } from 'lru-cache';
import { continuesJob, isStep, sharesValue } from '../../core/tracing/jobs.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { Background } from '../background.ts';
import type { FlowPorts } from '../flow-ports.ts';
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

export interface JobWatchParts {
  readonly ports: Pick<FlowPorts, 'sleep' | 'clock'>;
  readonly background: Background;
  /** Milliseconds after which no further call of a job is waited for. */
  readonly gapMs: () => number;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  readonly onOver: (job: readonly ExecutionTrace[], signal: AbortSignal) => Promise<void>;
}

/** Tells when jobs of single calls are over: their session begins something else, or nothing comes for a while. */
export interface JobWatch {
  /** A trace, and the steps before it in its job. */
  see(trace: ExecutionTrace, before: readonly ExecutionTrace[]): void;
}

export function watchJobs({ ports, background, gapMs, signal, onOver }: JobWatchParts): JobWatch {
  /** By session. */
  const open = new Map<string, { readonly job: readonly ExecutionTrace[]; readonly seenAt: number }>();
  /** Sessions whose jobs are waited for, by one timer each: a busy session makes thousands of calls. */
  const waitedFor = new Set<string>();
  const now = () => ports.clock.monotonic();

  const end = (sessionId: string) => {
    const ended = open.get(sessionId);
    open.delete(sessionId);
    if (ended) background.run('Learning from a job', (stopping) => onOver(ended.job, stopping));
  };

  const endLater = async (sessionId: string) => {
    if (waitedFor.has(sessionId)) return;
    waitedFor.add(sessionId);
    try {
      for (let last = open.get(sessionId); last; last = open.get(sessionId)) {
        const left = last.seenAt + gapMs() - now();
        if (left <= 0) end(sessionId);
        else await ports.sleep(left, signal);
      }
    } finally {
      waitedFor.delete(sessionId);
    }
  };

  return {
    see(trace, before) {
      const { sessionId } = trace;
      if (sessionId === null) return;
      if (before.length === 0) end(sessionId);
      if (!isStep(trace)) return;
      open.set(sessionId, { job: [...before, trace], seenAt: now() });
      // A gateway that closes waits for no job.
      endLater(sessionId).catch(() => {});
    },
  };
}
