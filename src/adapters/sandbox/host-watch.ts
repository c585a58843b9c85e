import { readFileSync } from 'node:fs';
import type { SandboxSettings } from '../../engine/ports.ts';

interface ProcessUsage {
  readonly residentBytes: number;
  readonly cpuMs: number;
}

/** `/proc` reports CPU time in hundredths of a second, whatever the kernel's own tick is. */
const TICK_MS = 10;

const DEFAULTS = {
  /** Milliseconds between two checks. */
  interval: 50,
  /** Above the factor of the child's own watch: this one is for a child whose watch no longer works. */
  memoryFactor: 3,
  memorySlackMb: 128,
  cpuFactor: 2,
  cpuSlackMs: 500,
};

export interface HostWatch {
  /** CPU milliseconds the child has used since the watch began, at the last check. */
  readonly cpuMs: number;
  stop(): void;
}

/** Watches a child from outside, on systems with `/proc`. */
export function startHostWatch(
  pid: number,
  { memoryMb, cpuMs }: SandboxSettings,
  onLimit: (limit: 'memory' | 'cpu') => void,
): HostWatch {
  const mostMs = cpuMs * DEFAULTS.cpuFactor + DEFAULTS.cpuSlackMs;
  const mostBytes = (memoryMb * DEFAULTS.memoryFactor + DEFAULTS.memorySlackMb) * 2 ** 20;
  let first: ProcessUsage | null = null;
  let used = 0;
  const timer = setInterval(() => {
    const usage = processUsage(pid);
    if (!usage) return;
    first ??= usage;
    used = usage.cpuMs - first.cpuMs;
    if (usage.residentBytes > mostBytes) onLimit('memory');
    else if (used > mostMs) onLimit('cpu');
  }, DEFAULTS.interval);
  return {
    get cpuMs() {
      return used;
    },
    stop: () => clearInterval(timer),
  };
}

/** A process's usage as the kernel reports it; null on systems without `/proc`. */
function processUsage(pid: number): ProcessUsage | null {
  if (process.platform !== 'linux') return null;
  try {
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    // The command's name may contain anything, so count fields after it: state is field 3, utime 14, stime
    // 15.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      residentBytes: Number(resident?.[1] ?? 0) * 1024,
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    };
  } catch {
    return null;
  }
}
