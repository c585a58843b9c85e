import { readFileSync } from 'node:fs';

/** When the process is alive but the system tells no start time. */
const UNKNOWN = 'unknown';

/**
 * When a process started, in the system's own units; null when it does not live. On Linux from
 * /proc/<pid>/stat (field 22, clock ticks since boot), where a zombie counts as dead.
 */
export function processStart(pid: number): string | null {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The second field is the command in parentheses and may hold spaces: count from its end.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? null : (fields[19] ?? UNKNOWN);
    } catch {
      return null;
    }
  }
  try {
    process.kill(pid, 0);
    return UNKNOWN;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? UNKNOWN : null;
  }
}
