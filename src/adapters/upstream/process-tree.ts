import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Set in the environment of every process a server starts, even if it detaches itself. */
export const MARKER_VARIABLE = 'PML_UPSTREAM_PROCESS';

interface ProcessRow {
  readonly pid: number;
  readonly group: number;
  readonly startTime: string;
}

let boot: string | undefined;

const DEFAULTS = { pollMs: 25 };

/** A server's process and its descendants: the process group, and every process that carries the marker. */
export interface ProcessTree {
  /** Leader of the group; null if its start was not recorded. */
  readonly pid: number | null;
  readonly startTime: string | null;
  readonly marker: string;
}

/** Sends SIGTERM to every process of the trees, waits, then kills the rest. Resolves when none is left. */
export async function endTrees(trees: readonly ProcessTree[], graceMs: number): Promise<void> {
  if (trees.length === 0) return;
  const seen: SeenProcesses = new Map();
  anyAlive(trees, seen);
  signalTrees(trees, 'SIGTERM');
  if (await waitUntilGone(trees, graceMs, seen)) return;
  signalTrees(trees, 'SIGKILL');
  await waitUntilGone(trees, graceMs, seen);
}

/** Signals at once, without waiting: for our own process's exit handler. */
function signalTrees(trees: readonly ProcessTree[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const tree of trees) if (tree.pid !== null && ownsGroup(tree)) signalGroup(tree.pid, signal);
  for (const pid of membersOf(trees)) send(pid, signal);
}

/** Start times by pid. A dying process no longer has the environment that would show its tree. */
type SeenProcesses = Map<number, string | null>;

export async function waitUntilGone(
  trees: readonly ProcessTree[],
  withinMs: number,
  seen: SeenProcesses = new Map(),
): Promise<boolean> {
  for (let waited = 0; ; waited += DEFAULTS.pollMs) {
    if (!anyAlive(trees, seen)) return true;
    if (waited >= withinMs) return false;
    await sleep(DEFAULTS.pollMs);
  }
}

function anyAlive(trees: readonly ProcessTree[], seen: SeenProcesses): boolean {
  if (process.platform === 'linux') {
    for (const pid of membersOf(trees)) seen.set(pid, startTimeOf(pid));
    return [...seen].some(([pid, startTime]) => startTime !== null && startTimeOf(pid) === startTime);
  }
  return trees.some((tree) => tree.pid !== null && ownsGroup(tree) && send(-tree.pid, 0));
}

/** Living processes of the trees; only Linux can list them. */
function membersOf(trees: readonly ProcessTree[]): number[] {
  if (process.platform !== 'linux') return [];
  const groups = new Set(trees.flatMap((tree) => (tree.pid !== null && ownsGroup(tree) ? [tree.pid] : [])));
  return findProcesses(groups, new Set(trees.map((tree) => tree.marker)));
}

/**
 * False when the pid now belongs to another process. A pid stays reserved while its group has members, so a
 * group without a leader is still the recorded one.
 */
function ownsGroup(tree: ProcessTree): boolean {
  if (process.platform === 'win32' || tree.pid === null) return true;
  const now = startTimeOf(tree.pid);
  return now === null || now === tree.startTime;
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform !== 'win32') {
    send(-pid, signal);
    return;
  }
  try {
    execFileSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
  } catch {
    // It has already ended.
  }
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/**
 * Start time of a process, as an opaque text: pids are reused, pid and start time together are unique. Null
 * when the process does not exist or the platform does not provide it.
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

/** Living processes in one of the groups or with one of the markers in their environment. Linux only. */
function findProcesses(groups: ReadonlySet<number>, markers: ReadonlySet<string>): number[] {
  const found: number[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const row = readRow(pid);
    if (row && (groups.has(row.group) || markers.has(markerOf(pid) ?? ''))) found.push(pid);
  }
  return found;
}

/** Zombies count as ended: they hold no resources, and only their parent can remove them. */
function readRow(pid: number): ProcessRow | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may contain spaces and parentheses; the fields after it do not (proc(5)).
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

/** Start times count from boot, so two boots may repeat them. */
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return boot;
}

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
