import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcesses, startTimeOf } from './process-table.ts';

const DEFAULTS = { pollMs: 25 };

/** A server's process with everything it started: its process group, and whoever carries its marker. */
export interface ProcessTree {
  /** Leader of the group; null when its start was never recorded. */
  readonly pid: number | null;
  readonly startTime: string | null;
  readonly marker: string;
}

/** Asks every process of the trees to end, waits, then ends what is left. Resolves when none lives. */
export async function endTrees(trees: readonly ProcessTree[], graceMs: number): Promise<void> {
  if (trees.length === 0) return;
  const seen: SeenProcesses = new Map();
  anyAlive(trees, seen);
  signalTrees(trees, 'SIGTERM');
  if (await waitUntilGone(trees, graceMs, seen)) return;
  signalTrees(trees, 'SIGKILL');
  await waitUntilGone(trees, graceMs, seen);
}

/** At once and without waiting: for the last moment of our own process. */
export function signalTrees(trees: readonly ProcessTree[], signal: 'SIGTERM' | 'SIGKILL'): void {
  for (const tree of trees) if (tree.pid !== null && ownsGroup(tree)) signalGroup(tree.pid, signal);
  for (const pid of membersOf(trees)) send(pid, signal);
}

/** Start times by pid. While it dies, a process has no environment any more by which its tree could be told. */
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

/** Processes of the trees that live; only Linux can list them. */
export function membersOf(trees: readonly ProcessTree[]): number[] {
  if (process.platform !== 'linux') return [];
  const groups = new Set(trees.flatMap((tree) => (tree.pid !== null && ownsGroup(tree) ? [tree.pid] : [])));
  return findProcesses(groups, new Set(trees.map((tree) => tree.marker)));
}

/**
 * False when the pid now names another process. A pid stays taken while its group has members, so
 * a group without a leader is still the one that was recorded.
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
    // It ended by itself.
  }
}

function send(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
