import { isStep } from '../../core/tracing/jobs.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { Background } from '../background.ts';
import type { FlowPorts } from '../flow-ports.ts';

interface JobWatchParts {
  readonly ports: Pick<FlowPorts, 'sleep' | 'clock'>;
  readonly background: Background;
  /** Milliseconds after which no further call of a job is waited for. */
  readonly gapMs: () => number;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
  readonly onOver: (job: readonly ExecutionTrace[], signal: AbortSignal) => Promise<void>;
}

/** Reports when a job of single calls is over: its session starts something else, or is idle for a while. */
interface JobWatch {
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
