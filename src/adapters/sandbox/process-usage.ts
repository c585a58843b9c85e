import { readFileSync } from 'node:fs';

export interface ProcessUsage {
  readonly residentBytes: number;
  readonly cpuMs: number;
}

/** The kernel counts CPU time in hundredths of a second, whatever its own tick is. */
const TICK_MS = 10;

/** What a process uses, told by the kernel and not by the process; null where there is no `/proc`. */
export function processUsage(pid: number): ProcessUsage | null {
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
