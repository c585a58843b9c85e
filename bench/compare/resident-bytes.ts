import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory of a process and its descendants, but for those that run the script `without`. */
export function residentBytes(pid: number, without: string): number {
  const children = new Map<number, number[]>();
  for (const each of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const parent = Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${each}/status`))?.[1] ?? -1);
    children.set(parent, [...(children.get(parent) ?? []), Number(each)]);
  }
  const of = (process: number): number => {
    if (read(`/proc/${process}/cmdline`).split('\0')[1] === without) return 0;
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${process}/status`))?.[1] ?? 0);
    return (children.get(process) ?? []).reduce((sum, child) => sum + of(child), kilobytes * 1024);
  };
  return of(pid);
}

/** Empty for a process that has just ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
