import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { KEY_PREFIX, type KeyRole, type KeyScope } from '../../core/vocabulary/principal.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { ApiKey, AuditEntry, AuditQuery, UsageWindow } from '../ports.ts';
import { revokeStanding, type StandingApproval, standing } from './standing-approvals.ts';

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
  /** Approvals that hold until revoked, newest first. */
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
