import { LRUCache } from 'lru-cache';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { KEY_PREFIX, type KeyRole, type KeyScope } from '../../core/vocabulary/principal.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { ApiKey, AuditEntry, AuditQuery, Clock, Store, UsageWindow } from '../ports.ts';
import { revokeStanding, type StandingApproval, standing } from './standing-approvals.ts';

const DEFAULTS = {
  /** How long an answer of the store is cached, in milliseconds: another gateway may revoke a key. */
  trustMs: 1_000,
  /** Keys remembered at the most. */
  most: 1_000,
  /** Milliseconds between two notes in the store that a key is used. */
  noteMs: 60_000,
};

export interface KeyOrder {
  readonly name: string;
  readonly role: KeyRole;
  /** Absent: the name of the key. */
  readonly user?: string;
  readonly by: string;
  /** Absent: everything that the role allows. */
  readonly scope?: KeyScope;
}

/** Who may come in, and what was decided. */
export interface PeopleService {
  /** `secret` is shown this once: only its hash is kept. */
  createKey(order: KeyOrder): Promise<{ readonly key: ApiKey; readonly secret: string }>;
  keys(): Promise<ApiKey[]>;
  /** When each key was last used, to the minute, by id. */
  lastUses(): Promise<ReadonlyMap<string, Date>>;
  /** By id or name; good for nothing from now on. */
  revokeKey(idOrName: string, by: string): Promise<ApiKey>;
  /** By id or name, from the next request on; null: everything that the role allows. */
  setScope(idOrName: string, scope: KeyScope | null, by: string): Promise<ApiKey>;
  /** What it has used of its limits in the windows of now. */
  usage(key: ApiKey): Promise<UsageWindow[]>;
  audit(query: AuditQuery): Promise<AuditEntry[]>;
  /** What people have allowed until it is revoked, newest first. */
  standing(): Promise<StandingApproval[]>;
  revokeStanding(id: string, by: string): Promise<StandingApproval>;
}

export function createPeopleService({
  store,
  crypto,
  clock,
  events,
}: Pick<FlowPorts, 'store' | 'crypto' | 'clock' | 'events'>): PeopleService {
  return {
    async createKey({ name, role, user = name, by, scope }) {
      checkName(name);
      checkName(user);
      // Twice 122 random bits: nobody guesses them, so a plain hash is enough.
      const random = () => crypto.randomUuid().replaceAll('-', '');
      const secret = `${KEY_PREFIX}${random()}${random()}`;
      const key: ApiKey = {
        id: crypto.randomUuid(),
        name,
        user,
        role,
        hash: crypto.sha256(secret),
        createdAt: clock.now(),
        createdBy: by,
        revokedAt: null,
        revokedBy: null,
        ...(scope && { scope }),
      };
      await store.keys.create(key).catch((error: unknown) => {
        if (!(error instanceof PmlError) || error.code !== 'store_conflict') throw error;
        throw new PmlError('store_conflict', `A key "${name}" already exists`, {
          hint: `Choose another name, or revoke it with "pml keys revoke ${name}".`,
        });
      });
      events.emit({ type: 'key_changed', key_id: key.id, state: 'created' });
      return { key, secret };
    },

    keys: () => store.keys.list(),
    lastUses: () => store.usage.lastUses(),

    async revokeKey(idOrName, by) {
      const key = known(await store.keys.revoke(idOrName, by, clock.now()), idOrName);
      events.emit({ type: 'key_changed', key_id: key.id, state: 'revoked' });
      return key;
    },

    async setScope(idOrName, scope, by) {
      const key = known(await store.keys.setScope(idOrName, scope, by, clock.now()), idOrName);
      events.emit({ type: 'key_changed', key_id: key.id, state: 'changed' });
      return key;
    },

    usage: ({ id }) => store.usage.read(id, clock.now()),
    audit: (query) => store.audit.list(query),
    standing: () => standing({ store }),
    revokeStanding: (id, by) => revokeStanding({ store, clock }, id, by),
  };
}

function known(key: ApiKey | null, idOrName: string): ApiKey {
  if (key) return key;
  throw new PmlError('not_found', `No active key "${idOrName}"`, { hint: 'See "pml keys ls".' });
}

function checkName(name: string): void {
  if (/^[\p{L}\p{N}][\p{L}\p{N}@._ -]{0,63}$/u.test(name)) return;
  throw new PmlError('invalid_argument', `"${name}" is not a valid name for a key or its user`, {
    hint: 'Use up to 64 letters, digits, spaces and @ . _ -, beginning with a letter or digit.',
  });
}

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
