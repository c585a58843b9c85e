import { LRUCache } from 'lru-cache';
import type { ApiKey, KeyStore } from '../ports.ts';

const DEFAULTS = {
  /** How long a look into the store is good for, in milliseconds: another gateway may revoke a key. */
  trustMs: 1_000,
  /** Keys remembered at the most. */
  most: 1_000,
};

/** The keys that are good now, without asking the store for every request. */
export interface KeyRing {
  byHash(hash: string): Promise<ApiKey | null>;
  byId(id: string): Promise<ApiKey | null>;
  /** Something changed: the store is asked again. */
  forget(): void;
}

export function createKeyRing(
  keys: KeyStore,
  /** Milliseconds; only differences matter. */
  now: () => number,
  trustMs = DEFAULTS.trustMs,
): KeyRing {
  const seen = new LRUCache<string, { readonly key: ApiKey; readonly until: number }>({ max: DEFAULTS.most });
  let epoch = 0;
  const look = async (name: string, find: () => Promise<ApiKey | null>): Promise<ApiKey | null> => {
    const known = seen.get(name);
    if (known && known.until > now()) return known.key;
    const asked = epoch;
    const until = now() + trustMs;
    const key = await find();
    if (!key || key.revokedAt !== null) {
      seen.delete(name);
      return null;
    }
    // Only good keys are remembered, so that guesses fill nothing; and none that was asked for before a change.
    if (asked === epoch) seen.set(name, { key, until });
    return key;
  };
  return {
    byHash: (hash) => look(`hash ${hash}`, () => keys.findByHash(hash)),
    byId: (id) => look(`id ${id}`, () => keys.get(id)),
    forget() {
      epoch += 1;
      seen.clear();
    },
  };
}
