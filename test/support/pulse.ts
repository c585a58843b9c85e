import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const DEFAULTS = {
  /** No answer at all. */
  wallMs: 30_000,
  pauseMs: 20,
  /** How the system counts the time of threads. */
  tickMs: 10,
};

/**
 * Asks `/healthz` all the time; `longest` is the longest it took, in time that the gateway's main thread ran:
 * how long it had to wait for the machine is not its doing.
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
        // A machine that gave it no time is not its doing either.
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

/** Where the system does not tell, time itself. */
async function mainThreadMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return performance.now();
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * DEFAULTS.tickMs;
}
