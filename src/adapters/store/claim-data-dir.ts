import { setTimeout } from 'node:timers/promises';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { acquireDataDir, type DataDirLock, type Holder, isAlive, readHolder } from './data-dir-lock.ts';

const DEFAULTS = {
  /** How long to wait for a holder that is starting or ending to say where it listens. */
  waitMs: 15_000,
  pollMs: 50,
};

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
      hint: `Use that one, stop it (kill ${heldBy.pid}), or give this one another folder with --data.`,
    },
  );
}
