import type pg from 'pg';
import type { TrainerLock } from '../../../engine/ports.ts';

const DEFAULTS = {
  /**
   * How long the lock is held before it counts, in milliseconds: a gateway that lost it with its connection needs a moment to
   * notice.
   */
  graceMs: 1_000,
};

/** Of the advisory lock; `pml` and `seat` in ASCII. */
const LOCK = [0x706d6c, 0x73656174];

export interface SessionTrainerLock extends TrainerLock {
  /** On a connection that answers: takes the lock if it is free and wanted. */
  tick(client: pg.Client): Promise<void>;
  /** The connection is gone, and the lock with it. */
  lose(): void;
}

/** An advisory lock of a session: the server frees it when the session ends, however it ends. */
export function createTrainerLock(poke: () => void): SessionTrainerLock {
  const listeners = new Set<(isHeld: boolean) => void>();
  let claims: ((isHeld: boolean) => void)[] = [];
  let isWanted = false;
  let lockedAt: number | null = null;
  let isHeld = false;

  const set = (now: boolean) => {
    if (isHeld === now) return;
    isHeld = now;
    for (const listener of listeners) listener(now);
  };
  const decide = (now: boolean) => {
    for (const answer of claims) answer(now);
    claims = [];
  };
  const seek = () => {
    if (isWanted) return;
    isWanted = true;
    poke();
  };

  return {
    isHeld: () => isHeld,
    seek,
    async claim() {
      if (isHeld) return true;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      claims.push(resolve);
      isWanted = true;
      poke();
      return await promise;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async tick(client) {
      if (!isWanted) return;
      if (lockedAt === null) {
        const { rows } = await client.query<{ got: boolean }>(
          'select pg_try_advisory_lock($1, $2) as got',
          LOCK,
        );
        if (rows[0]?.got) lockedAt = performance.now();
        else decide(false);
      } else if (!isHeld && performance.now() - lockedAt >= DEFAULTS.graceMs) {
        set(true);
        decide(true);
      }
    },
    lose() {
      lockedAt = null;
      set(false);
      decide(false);
    },
  };
}
