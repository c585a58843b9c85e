import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const DEFAULTS = {
  /** Limit for no answer at all. */
  wallMs: 30_000,
  pauseMs: 20,
  /** Resolution of the system's thread times. */
  tickMs: 10,
};

/**
 * Requests `/healthz` all the time; `longest` is the longest answer time, in time that the gateway's main thread ran:
 * waiting for a busy machine does not count.
 */
export function takePulse(url: string, pid: number) {
  let longest = 0;
  let isOver = false;
  const beat = (async () => {
    while (!isOver) {
      const start = await mainThreadMs(pid);
      const signal = AbortSignal.timeout(DEFAULTS.wallMs);
      const isThere = await fetch(`${url}/healthz`, { signal }).then(
        (reply) => reply.ok,
        // If the machine gave the thread no time, that does not count either.
        () => signal.aborted,
      );
      longest = isThere ? Math.max(longest, (await mainThreadMs(pid)) - start) : DEFAULTS.wallMs;
      await sleep(DEFAULTS.pauseMs);
    }
  })();
  return {
    longest: () => longest,
    end: async () => {
      isOver = true;
      await beat;
      return longest;
    },
  };
}

/** Falls back to wall time where the system does not report thread times. */
async function mainThreadMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return performance.now();
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * DEFAULTS.tickMs;
}
