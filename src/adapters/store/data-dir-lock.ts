import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import lockfile from 'proper-lockfile';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { readIfThere } from './data-dir.ts';

/** When the process is alive but the system tells no start time. */
const UNKNOWN = 'unknown';

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
  /** How long to wait for a holder that is starting or ending to say where it listens. */
  waitMs: 15_000,
  pollMs: 50,
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

/** The holder that comes after this process let go; null when nobody comes in time. */
export async function awaitSuccessor(dir: string): Promise<(Holder & { readonly port: number }) | null> {
  for (let waited = 0; waited < DEFAULTS.waitMs; waited += DEFAULTS.pollMs) {
    const holder = await readHolder(dir);
    if (holder && holder.port !== null && holder.pid !== process.pid && isAlive(holder)) {
      return { ...holder, port: holder.port };
    }
    await setTimeout(DEFAULTS.pollMs);
  }
  return null;
}

/** The lock, or the living holder once it says where it listens. */
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

/** For a command that must be the holder itself; it waits while `patience` says that the holder will go. */
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
