import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Present in the environment of every process a server starts, however it detaches itself. */
export const MARKER_VARIABLE = 'PML_UPSTREAM_PROCESS';

interface ProcessRow {
  readonly pid: number;
  readonly group: number;
  readonly startTime: string;
}

/**
 * When the process started, as text that is only compared: with the pid it names one process for
 * good, as pids are used again. Null when there is no such process or the system does not tell.
 */
export function startTimeOf(pid: number): string | null {
  if (process.platform === 'linux') return readRow(pid)?.startTime ?? null;
  if (process.platform === 'win32') return null;
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return text === '' ? null : text;
  } catch {
    return null;
  }
}

/** Living processes of a group, or with one of the markers in their environment. Linux only. */
export function findProcesses(groups: ReadonlySet<number>, markers: ReadonlySet<string>): number[] {
  const found: number[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const row = readRow(pid);
    if (row && (groups.has(row.group) || markers.has(markerOf(pid) ?? ''))) found.push(pid);
  }
  return found;
}

/** Zombies are gone for our purposes: they hold nothing, and only their parent can remove them. */
function readRow(pid: number): ProcessRow | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may hold spaces and parentheses; the fields after it do not (proc(5)).
    const [state, , group, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return null;
    return { pid, group: Number(group), startTime: `${bootId()}:${rest[16]}` };
  } catch {
    return null;
  }
}

function markerOf(pid: number): string | null {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const entry = environment.find((pair) => pair.startsWith(`${MARKER_VARIABLE}=`));
    return entry?.slice(MARKER_VARIABLE.length + 1) ?? null;
  } catch {
    return null;
  }
}

let boot: string | undefined;

/** Start times count from boot, so two boots may repeat them. */
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return boot;
}
