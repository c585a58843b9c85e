import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import lockfile from 'proper-lockfile';
import { readIfThere } from './data-dir.ts';
import { processStart } from './process-start.ts';

/** Who holds a data dir: which process, and where it listens for others. */
export interface Holder {
  readonly nonce: string;
  readonly pid: number;
  /** Tells a process from a later one with the same pid; null where the system does not say. */
  readonly processStart: string | null;
  readonly host: string;
  /** The command that runs there: `serve`, `stdio`, … */
  readonly role: string;
  /** Loopback port it listens on; null until it does. */
  readonly port: number | null;
  readonly since: string;
}

export interface DataDirLock {
  readonly holder: Holder;
  /** Tells others where to reach this process; null when it no longer listens. */
  announce(port: number | null): Promise<void>;
  release(): Promise<void>;
}

const DEFAULTS = {
  /** The guard is held for milliseconds; only a process killed within them leaves it behind. */
  guardStaleMs: 5_000,
  guardRetries: { retries: 60, minTimeout: 20, maxTimeout: 200 },
};

/**
 * PGlite does not guard its directory: two processes on one lose each other's rows. A record names the
 * holder; it is read and written only under a short guard, so two who find a dead holder do not both
 * take over. A holder counts as alive while its process lives, however long it was suspended.
 */
export async function acquireDataDir(
  dir: string,
  role: string,
): Promise<{ lock: DataDirLock } | { heldBy: Holder }> {
  return await underGuard(dir, async () => {
    const current = await readHolder(dir);
    if (current && isAlive(current)) return { heldBy: current };
    const holder: Holder = {
      nonce: randomUUID(),
      pid: process.pid,
      processStart: processStart(process.pid),
      host: hostname(),
      role,
      port: null,
      since: new Date().toISOString(),
    };
    await writeHolder(dir, holder);
    return { lock: heldLock(dir, holder) };
  });
}

/** The holder's record, whether or not it lives. */
export async function readHolder(dir: string): Promise<Holder | null> {
  const text = await readIfThere(recordOf(dir));
  if (text === null) return null;
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return null;
  }
}

/** On another machine (a shared folder) nobody can tell, so it counts as alive. */
export function isAlive(holder: Holder): boolean {
  if (holder.host !== hostname()) return true;
  const start = processStart(holder.pid);
  if (start === null) return false;
  return holder.processStart === null || start === holder.processStart;
}

function heldLock(dir: string, holder: Holder): DataDirLock {
  return {
    holder,
    announce: (port) => underGuard(dir, () => writeHolder(dir, { ...holder, port })),
    release: () =>
      underGuard(dir, async () => {
        const current = await readHolder(dir);
        if (current?.nonce === holder.nonce) await rm(recordOf(dir), { force: true });
      }),
  };
}

async function underGuard<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const release = await lockfile.lock(dir, {
    lockfilePath: join(dir, 'holder.guard'),
    stale: DEFAULTS.guardStaleMs,
    retries: DEFAULTS.guardRetries,
  });
  try {
    return await work();
  } finally {
    await release();
  }
}

async function writeHolder(dir: string, holder: Holder): Promise<void> {
  const temporary = `${recordOf(dir)}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  await rename(temporary, recordOf(dir));
}

function recordOf(dir: string): string {
  return join(dir, 'holder.json');
}
