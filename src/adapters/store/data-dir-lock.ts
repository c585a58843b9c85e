import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import lockfile from 'proper-lockfile';
import { PmlError } from '../../core/vocabulary/pml-error.ts';

/** Start time of a living process if the platform does not provide it. */
const UNKNOWN = 'unknown';

/** The process that holds a data folder, and where it listens. */
export interface Holder {
  readonly nonce: string;
  readonly pid: number;
  /** Distinguishes a process from a later one with the same pid; null if the platform does not provide it. */
  readonly processStart: string | null;
  readonly host: string;
  /** The command it runs: `serve`, `stdio`, … */
  readonly role: string;
  /** Loopback port it listens on; null until it does. */
  readonly port: number | null;
  readonly since: string;
}

export interface DataDirLock {
  readonly holder: Holder;
  /** Publishes this process's port; null when it no longer listens. */
  announce(port: number | null): Promise<void>;
  release(): Promise<void>;
}

const DEFAULTS = {
  /**
   * Age in milliseconds from which a guard is stale. It is normally held for milliseconds; only a killed
   * process leaves one.
   */
  guardStaleMs: 5_000,
  guardRetries: { retries: 60, minTimeout: 20, maxTimeout: 200 },
  /** Milliseconds to wait for a starting holder to publish its port, or for an ending one to let go. */
  waitMs: 60_000,
  /** Milliseconds that a process which was handed the folder has to publish its port. */
  successorMs: 15_000,
  pollMs: 50,
  tokenBytes: 32,
};

/**
 * PGlite does not lock its directory: two processes on one lose each other's rows. A record names the holder;
 * it is read and written only under a short guard, so two processes that find a dead holder cannot both take
 * over. A holder counts as alive while its process exists, however long it was suspended.
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

/** The holder's record, whether or not the process is alive. */
export async function readHolder(dir: string): Promise<Holder | null> {
  const text = await readIfThere(recordOf(dir));
  if (text === null) return null;
  try {
    return JSON.parse(text) as Holder;
  } catch {
    return null;
  }
}

/** A holder on another machine (a shared folder) cannot be checked, so it counts as alive. */
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

/**
 * Start time of a process, in the platform's units; null if it is not alive. On Linux from /proc/<pid>/stat
 * (field 22, clock ticks since boot), where a zombie counts as dead.
 */
export function processStart(pid: number): string | null {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The second field is the command in parentheses and may contain spaces: count from its end.
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

/** The next holder after this process has released the lock; null if none appears in time. */
export async function awaitSuccessor(dir: string): Promise<(Holder & { readonly port: number }) | null> {
  for (let waited = 0; waited < DEFAULTS.successorMs; waited += DEFAULTS.pollMs) {
    const holder = await readHolder(dir);
    if (holder && holder.port !== null && holder.pid !== process.pid && isAlive(holder)) {
      return { ...holder, port: holder.port };
    }
    await setTimeout(DEFAULTS.pollMs);
  }
  return null;
}

/** The lock, or the living holder once it has published its port. */
export async function claimOrReach(
  dir: string,
  role: string,
): Promise<{ lock: DataDirLock } | { holder: Holder & { readonly port: number } }> {
  for (let waited = 0; ; waited += DEFAULTS.pollMs) {
    const claim = await acquireDataDir(dir, role);
    if ('lock' in claim) return claim;
    const { heldBy } = claim;
    if (heldBy.port !== null) return { holder: { ...heldBy, port: heldBy.port } };
    if (waited >= DEFAULTS.waitMs) {
      throw new PmlError('holder_unreachable', `Process ${heldBy.pid} holds ${dir} but does not listen`, {
        hint: `Stop it (kill ${heldBy.pid}) and try again.`,
      });
    }
    await setTimeout(DEFAULTS.pollMs);
  }
}

/** For commands that must hold the lock themselves; waits while `patience` expects the holder to end. */
export async function claim(
  dir: string,
  role: string,
  { patience }: { patience: (heldBy: Holder) => Promise<boolean> },
): Promise<DataDirLock> {
  let claimed = await acquireDataDir(dir, role);
  for (let waited = 0; 'heldBy' in claimed && waited < DEFAULTS.waitMs; waited += DEFAULTS.pollMs) {
    if (!(await patience(claimed.heldBy))) break;
    await setTimeout(DEFAULTS.pollMs);
    claimed = await acquireDataDir(dir, role);
  }
  if ('lock' in claimed) return claimed.lock;
  const { heldBy } = claimed;
  const where = heldBy.port === null ? 'still starting' : `listening on port ${heldBy.port}`;
  throw new PmlError(
    'data_dir_held',
    `${dir} is held by "pml ${heldBy.role}" (pid ${heldBy.pid}, ${where})`,
    {
      hint: `Use that gateway, stop it (kill ${heldBy.pid}), or choose another folder with --data.`,
    },
  );
}

/** Creates the directory, accessible to its owner only: it contains the token and everything learned. */
export async function ensureDataDir(dir: string): Promise<void> {
  await readable(dir, () => mkdir(dir, { recursive: true, mode: 0o700 }));
}

/** The token that programs use to talk to the gateway; created on first use, readable by its owner only. */
export async function readToken(dir: string): Promise<string> {
  const file = join(dir, 'token');
  const existing = await readIfThere(file);
  if (existing) return existing.trim();
  const fresh = randomBytes(DEFAULTS.tokenBytes).toString('base64url');
  try {
    await readable(file, () => writeFile(file, `${fresh}\n`, { mode: 0o600, flag: 'wx' }));
  } catch (error) {
    // Another process created it in the meantime: use that one.
    const theirs = await readIfThere(file);
    if (theirs) return theirs.trim();
    throw error;
  }
  await chmod(file, 0o600);
  return fresh;
}

/** A small file in the data folder, accessible to its owner only, written atomically. */
export function dataFile(dir: string, name: string) {
  const file = join(dir, name);
  return {
    read: () => readIfThere(file),
    async write(text: string): Promise<void> {
      const unfinished = `${file}.${process.pid}.tmp`;
      await readable(file, async () => {
        await writeFile(unfinished, text, { mode: 0o600 });
        await rename(unfinished, file);
      });
    },
  };
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(file, error);
  }
}

async function readable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): PmlError {
  return new PmlError('data_dir_unreadable', `${path} cannot be used: ${(error as Error).message}`, {
    hint: 'Check that you own the folder and that no file has the same name, or choose another folder with --data.',
    cause: error,
  });
}
