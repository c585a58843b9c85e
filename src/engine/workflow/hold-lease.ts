import type { FlowPorts } from '../flow-ports.ts';
import type { RunLease } from '../ports.ts';

/** Renewed three times before it would run out. */
const RENEWALS = 3;

/** Keeps a run ours until told to stop; `onLost` when another has taken it, or it was ended. */
export function holdLease(
  { store, sleep, logger }: Pick<FlowPorts, 'store' | 'sleep' | 'logger'>,
  runId: string,
  lease: RunLease,
  onLost: () => void,
): { stop(): void } {
  const stopping = new AbortController();
  const renew = async () => {
    for (;;) {
      await sleep(lease.ttlMs / RENEWALS, stopping.signal);
      try {
        if (await store.runs.renew(runId, lease)) continue;
      } catch (error) {
        // A store that is away for a moment is tried again; writes tell when it was away for too long.
        logger.log('warn', 'A lease cannot be renewed', { run_id: runId, error: String(error) });
        continue;
      }
      if (!stopping.signal.aborted) onLost();
      return;
    }
  };
  // Ends by being stopped.
  renew().catch(() => {});
  return { stop: () => stopping.abort() };
}
