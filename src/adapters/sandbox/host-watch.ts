import { readFileSync } from 'node:fs';
import type { SandboxSettings } from '../../engine/ports.ts';

interface ProcessUsage {
  readonly residentBytes: number;
  readonly cpuMs: number;
}

/** The kernel counts CPU time in hundredths of a second, whatever its own tick is. */
const TICK_MS = 10;

const DEFAULTS = {
  /** Milliseconds between two looks. */
  interval: 50,
  /** The child's own watch strikes earlier; this one is for a child that does not watch itself any more. */
  memoryFactor: 3,
  memorySlackMb: 128,
  cpuFactor: 2,
  cpuSlackMs: 500,
};

export interface HostWatch {
  /** CPU the child has used since the watch began, in milliseconds, as last seen. */
  readonly cpuMs: number;
  stop(): void;
}

/** Looks at a child from outside, where the system lets one look. */
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

/** What a process uses, told by the kernel and not by the process; null on systems without `/proc`. */
function processUsage(pid: number): ProcessUsage | null {
  if (process.platform !== 'linux') return null;
  try {
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
    // After the command's name, which may hold anything: state is field 3, utime 14, stime 15.
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
