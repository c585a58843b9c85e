import type { SandboxSettings } from '../../engine/ports.ts';
import { type ProcessUsage, processUsage } from './process-usage.ts';

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
