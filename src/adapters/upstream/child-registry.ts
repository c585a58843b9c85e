import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endTrees, membersOf, type ProcessTree, signalTrees, startTimeOf } from './process-tree.ts';

interface ChildRecord extends ProcessTree {
  readonly server: string;
  readonly owner: { readonly pid: number; readonly startTime: string | null };
}

export interface ReapedTree {
  readonly server: string;
  /** Processes that were still alive; empty if the platform cannot list them. */
  readonly pids: readonly number[];
}

/**
 * Every server process we started, one file each, written before the process exists, so that the next start
 * finds leftover processes even after a crash.
 */
export class ChildRegistry {
  readonly #dir: string;
  readonly #live = new Map<string, ChildRecord>();
  readonly #endAll = () => signalTrees([...this.#live.values()], 'SIGKILL');

  constructor(dataDir: string) {
    this.#dir = childrenDir(dataDir);
    // Covers every exit of our process except kill -9, exceptions included.
    process.on('exit', this.#endAll);
  }

  /** Returns the marker that the process must carry in its environment. */
  announce(server: string): string {
    const marker = randomUUID();
    const owner = { pid: process.pid, startTime: startTimeOf(process.pid) };
    this.#write({ server, marker, pid: null, startTime: null, owner });
    return marker;
  }

  started(marker: string, pid: number): ProcessTree {
    const record = this.#live.get(marker);
    if (!record) throw new Error(`Process ${pid} carries a marker that was not announced`);
    const tree = { ...record, pid, startTime: startTimeOf(pid) };
    this.#write(tree);
    return tree;
  }

  gone(marker: string): void {
    this.#live.delete(marker);
    rmSync(recordFile(this.#dir, marker), { force: true });
  }

  close(): void {
    process.off('exit', this.#endAll);
  }

  #write(record: ChildRecord): void {
    this.#live.set(record.marker, record);
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const file = recordFile(this.#dir, record.marker);
    writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
}

/** Ends processes that a crashed gateway left running. */
export async function reapOrphans(dataDir: string, graceMs = 2_000): Promise<ReapedTree[]> {
  const dir = childrenDir(dataDir);
  const orphans = readRecords(dir).filter((record) => !isOwned(record));
  const reaped = orphans
    .map((record) => ({ server: record.server, pids: membersOf([record]) }))
    .filter((tree) => tree.pids.length > 0);
  // On Windows the start time of a process is unknown, so an old pid may name an unrelated process.
  if (process.platform !== 'win32') await endTrees(orphans, graceMs);
  for (const record of orphans) rmSync(recordFile(dir, record.marker), { force: true });
  return reaped;
}

function isOwned({ owner }: ChildRecord): boolean {
  if (process.platform !== 'win32') return startTimeOf(owner.pid) === owner.startTime;
  try {
    return process.kill(owner.pid, 0);
  } catch {
    return false;
  }
}

function readRecords(dir: string): ChildRecord[] {
  let names: string[];
  try {
    names = readdirSync(dir).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const record = parseRecord(join(dir, name));
    // Edited by hand: it names no process to end.
    if (!record) rmSync(join(dir, name), { force: true });
    return record ?? [];
  });
}

function parseRecord(file: string): ChildRecord | null {
  try {
    const record = JSON.parse(readFileSync(file, 'utf8')) as Partial<ChildRecord>;
    return typeof record.marker === 'string' && record.owner ? (record as ChildRecord) : null;
  } catch {
    return null;
  }
}

const childrenDir = (dataDir: string) => join(dataDir, 'children');
const recordFile = (dir: string, marker: string) => join(dir, `${marker}.json`);
