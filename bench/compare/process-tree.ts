import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const DEFAULTS = {
  /** Milliseconds that processes have to end by themselves, and how often they are looked at. */
  graceMs: 5_000,
  lookMs: 50,
};

export interface Memory {
  /** Bytes. A page that several processes share counts for each. */
  readonly resident: number;
  /** Bytes. A page that several processes share counts once; 0 where the system does not tell. */
  readonly proportional: number;
  readonly processes: number;
}

/** Memory of a process and its descendants, except those that run the script `without`. */
export function memoryOf(pid: number, without: string): Memory {
  const children = childrenOf();
  const all: number[] = [];
  const add = (process: number) => {
    if (read(process, 'cmdline').split('\0')[1] === without) return;
    all.push(process);
    for (const child of children.get(process) ?? []) add(child);
  };
  add(pid);
  const sum = (file: string, pattern: RegExp) =>
    all.reduce((bytes, each) => bytes + Number(pattern.exec(read(each, file))?.[1] ?? 0) * 1024, 0);
  return {
    resident: sum('status', /^VmRSS:\s+(\d+)/m),
    proportional: sum('smaps_rollup', /^Pss:\s+(\d+)/m),
    processes: all.length,
  };
}

/**
 * Ends all descendants of this process, and all processes with `mark` in their environment or on their command line:
 * daemons leave the tree of the process that started them.
 */
export async function endProcesses(mark: string, graceMs = DEFAULTS.graceMs): Promise<void> {
  const until = performance.now() + graceMs;
  for (let isPolite = true; ; isPolite = false) {
    const left = startedHere(mark);
    if (left.length === 0) return;
    for (const pid of left) signal(pid, isPolite ? 'SIGTERM' : 'SIGKILL');
    // After the first, polite signal there is time to end; what has not ended by then is killed.
    while (isPolite && performance.now() < until && startedHere(mark).length > 0)
      await sleep(DEFAULTS.lookMs);
    await sleep(DEFAULTS.lookMs);
  }
}

/** The processes that `endProcesses` would end. */
export function startedHere(mark: string): readonly number[] {
  const children = childrenOf();
  const found = new Set<number>();
  const add = (pid: number) => {
    for (const child of children.get(pid) ?? []) {
      found.add(child);
      add(child);
    }
  };
  add(process.pid);
  const others = pids().filter((pid) =>
    ['environ', 'cmdline'].some((file) => read(pid, file).includes(mark)),
  );
  for (const pid of others) found.add(pid);
  found.delete(process.pid);
  return [...found].filter((pid) => !/^State:\s+Z/m.test(read(pid, 'status')));
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has just ended.
  }
}

function childrenOf(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const pid of pids()) {
    const parent = Number(/^PPid:\s+(\d+)/m.exec(read(pid, 'status'))?.[1] ?? -1);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  return children;
}

function pids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Empty for a process that has just ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
