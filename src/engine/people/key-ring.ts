import { LRUCache } from 'lru-cache';
import type { ApiKey, Clock, Store } from '../ports.ts';

const DEFAULTS = {
  /** How long an answer of the store is cached, in milliseconds: another gateway may revoke a key. */
  trustMs: 1_000,
  /** Keys remembered at the most. */
  most: 1_000,
  /** Milliseconds between two notes in the store that a key is used. */
  noteMs: 60_000,
};

/** The keys that are good now, without asking the store for every request. */
export interface KeyRing {
  byHash(hash: string): Promise<ApiKey | null>;
  byId(id: string): Promise<ApiKey | null>;
  byName(name: string): Promise<ApiKey | null>;
  /** Something changed: the store is asked again. */
  forget(): void;
}

export function createKeyRing(
  { keys, usage }: Pick<Store, 'keys' | 'usage'>,
  { now, monotonic }: Clock,
  trustMs = DEFAULTS.trustMs,
): KeyRing {
  const seen = new LRUCache<string, { readonly key: ApiKey; readonly until: number }>({ max: DEFAULTS.most });
  const noted = new LRUCache<string, number>({ max: DEFAULTS.most });
  /** Nobody waits for it, and nobody is refused when it fails: the next minute has another. */
  const note = ({ id }: ApiKey) => {
    const last = noted.get(id);
    if (last !== undefined && monotonic() - last < DEFAULTS.noteMs) return;
    noted.set(id, monotonic());
    usage.noteUse(id, now()).catch(() => {});
  };
  let epoch = 0;
  const look = async (name: string, find: () => Promise<ApiKey | null>): Promise<ApiKey | null> => {
    const known = seen.get(name);
    if (known && known.until > monotonic()) {
      note(known.key);
      return known.key;
    }
    const asked = epoch;
    const until = monotonic() + trustMs;
    const key = await find();
    if (!key || key.revokedAt !== null) {
      seen.delete(name);
      return null;
    }
    // Only good keys are remembered, so that guesses fill nothing; and none that was asked for before a change.
    if (asked === epoch) seen.set(name, { key, until });
    note(key);
    return key;
  };
  return {
    byHash: (hash) => look(`hash ${hash}`, () => keys.findByHash(hash)),
    byId: (id) => look(`id ${id}`, () => keys.get(id)),
    byName: (name) =>
      look(`name ${name}`, async () => {
        const all = await keys.list();
        return all.find((key) => key.name === name && key.revokedAt === null) ?? null;
      }),
    forget() {
      epoch += 1;
      seen.clear();
    },
  };
}
