import { setTimeout } from 'node:timers/promises';
import type pg from 'pg';
import type {
  Change,
  ChangeFeed,
  ChangeListener,
  ChangeTopic,
  Logger,
  TrainerLock,
} from '../../../engine/ports.ts';
import { guarded } from '../sql/codec.ts';
import { keepSession, type PgSession } from './pg-session.ts';

const DEFAULTS = {
  /** Rows of changes per read. */
  page: 1_000,
  /** Rows to keep: a gateway further behind reads everything again. */
  kept: 10_000,
  /** Milliseconds between removals of older rows. */
  pruneMs: 60_000,
  /** Maximum number of pending changes; beyond it listeners are told that anything may have changed. */
  most: 10_000,
  /** Milliseconds before a failed listener is notified again. */
  retryMs: 1_000,
  /**
   * Milliseconds the lock must be held before it counts: a gateway that lost it with its connection needs a
   * moment to notice.
   */
  graceMs: 1_000,
};

const CHANNEL = 'pml_change';

export interface PostgresTeam {
  readonly changes: ChangeFeed;
  readonly trainerLock: TrainerLock;
  close(): Promise<void>;
}

/**
 * This gateway's membership among those on one PostgreSQL, on a separate connection: it receives changes and
 * holds the trainer lock there, so that the server notices when it dies. `name` is that of the store's own
 * connections.
 */
export async function openPostgresTeam(
  url: string,
  name: string,
  logger: Logger = { log: () => {} },
): Promise<PostgresTeam> {
  const pending = new PendingChanges(
    async (ms) => void (await setTimeout(ms, undefined, { ref: false })),
    (error) =>
      logger.log('warn', 'Changes by other gateways could not be applied yet', { error: String(error) }),
  );
  // Notifications may arrive as soon as the session listens, before it is assigned; the first read of the
  // table is then still to come.
  let session: PgSession | null = null;
  const trainerLock = createTrainerLock(() => session?.poke());
  let cursor: number | null = null;
  let prunedAt = 0;

  async function read(client: pg.Client): Promise<void> {
    for (;;) {
      const { oldest, newest } = await ends(client);
      if (cursor === null || newest <= (cursor ?? 0)) {
        cursor ??= newest;
        return;
      }
      if (cursor < oldest - 1) {
        pending.addAll();
        cursor = newest;
        return;
      }
      const { rows } = await client.query<{ seq: string; topic: string; key: string; origin: string }>(
        'select seq, topic, key, origin from store_change where seq > $1 order by seq limit $2',
        [cursor, DEFAULTS.page],
      );
      pending.add(rows.filter(({ origin }) => origin !== name).map(toChange));
      cursor = Number(rows.at(-1)?.seq ?? cursor);
    }
  }

  async function prune(client: pg.Client): Promise<void> {
    if (!trainerLock.isHeld() || performance.now() - prunedAt < DEFAULTS.pruneMs) return;
    prunedAt = performance.now();
    await client.query(
      'delete from store_change where seq <= (select max(seq) - $1::bigint from store_change)',
      [DEFAULTS.kept],
    );
  }

  const kept = await guarded('Connecting to the other gateways of this store', () =>
    keepSession(
      { url, name },
      {
        async begin(client) {
          await client.query(`listen ${CHANNEL}`);
          const isFirst = cursor === null;
          await read(client);
          // Traces have their own numbers: their readers look for new ones.
          if (!isFirst) pending.add([{ topic: 'traces', key: '' }]);
        },
        async tick(client) {
          await trainerLock.tick(client);
          await read(client);
          await prune(client);
        },
        notified(payload) {
          const [topic, origin] = splitOnce(payload);
          if (origin === name) return;
          if (topic === 'traces') pending.add([{ topic, key: '' }]);
          else session?.poke();
        },
        lost: trainerLock.lose,
      },
    ),
  );

  session = kept;
  return {
    trainerLock,
    changes: {
      follow(listener) {
        pending.listen(listener);
        return () => pending.listen(null);
      },
    },
    close: kept.close,
  };
}

async function ends(client: pg.Client): Promise<{ oldest: number; newest: number }> {
  const { rows } = await client.query<{ oldest: string | null; newest: string | null }>(
    'select min(seq) as oldest, max(seq) as newest from store_change',
  );
  return { oldest: Number(rows[0]?.oldest ?? 0), newest: Number(rows[0]?.newest ?? 0) };
}

function toChange({ topic, key }: { readonly topic: string; readonly key: string }): Change {
  return { topic: topic as ChangeTopic, key };
}

function splitOnce(payload: string): [string, string] {
  const at = payload.indexOf(' ');
  return [payload.slice(0, at), payload.slice(at + 1)];
}

/** Changes to deliver to a listener: each once, in batches, and none lost when the listener fails. */
class PendingChanges {
  readonly #waiting = new Map<string, Change>();
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #onFailure: (error: unknown) => void;
  #isAll = false;
  #isTelling = false;
  #listener: ChangeListener | null = null;

  constructor(sleep: (ms: number) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#sleep = sleep;
    this.#onFailure = onFailure;
  }

  listen(listener: ChangeListener | null): void {
    this.#listener = listener;
    void this.#tell();
  }

  add(changes: Iterable<Change>): void {
    for (const change of changes) this.#waiting.set(`${change.topic} ${change.key}`, change);
    if (this.#waiting.size > DEFAULTS.most) this.addAll();
    else void this.#tell();
  }

  /** Anything may have changed. */
  addAll(): void {
    this.#isAll = true;
    void this.#tell();
  }

  async #tell(): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    while (this.#listener && (this.#isAll || this.#waiting.size > 0)) {
      const batch = this.#isAll ? null : [...this.#waiting.values()];
      this.#isAll = false;
      this.#waiting.clear();
      try {
        await this.#listener(batch);
      } catch (error) {
        this.#onFailure(error);
        // The store may be unavailable again, and how much was applied is unknown.
        this.#isAll = true;
        await this.#sleep(DEFAULTS.retryMs);
      }
    }
    this.#isTelling = false;
  }
}

/** Key of the advisory lock: `pml` and `seat` in ASCII. */
const LOCK = [0x706d6c, 0x73656174];

interface SessionTrainerLock extends TrainerLock {
  /** Called on a working connection: takes the lock if it is free and wanted. */
  tick(client: pg.Client): Promise<void>;
  /** The connection and with it the lock are lost. */
  lose(): void;
}

/** A session's advisory lock: the server frees it when the session ends, however it ends. */
function createTrainerLock(poke: () => void): SessionTrainerLock {
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
