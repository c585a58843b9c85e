import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { KEY_PREFIX, type Principal } from '../../core/vocabulary/principal.ts';
import type { KeyRing } from '../../engine/people/people-service.ts';
import type { ApiKey } from '../../engine/ports.ts';
import { createLogins, isLoginSecret, type Logins } from './logins.ts';

const DEFAULTS = {
  /** How long a login link is good. */
  codeMs: 15 * 60_000,
  /** Links at once; beyond it the oldest is good no more. */
  codes: 100,
};

/** What a page holds instead of a token or key, in storage that only its own origin can read. */
export interface Session {
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface Access {
  /** Who comes with the data dir's token, with a key, or with a login made with either; null for nobody. */
  identify(credential: string | undefined): Promise<Principal | null>;
  /** A short-lived code for one login: as the owner, or as the user of the key. */
  createLoginCode(key?: ApiKey): string;
  /** A login of its own for a code, once; null when the code was used or is too old. */
  redeemLoginCode(code: string, about?: string): Promise<Session | null>;
  /** For a browser whose person typed a key in; null when the key is not good. */
  sessionFor(key: string, about?: string): Promise<Session | null>;
  readonly logins: Pick<Logins, 'list' | 'revoke'>;
}

export interface AccessOptions {
  readonly keys?: Pick<KeyRing, 'byHash' | 'byId'>;
  /** Name of the person who owns the data dir. */
  readonly owner?: string;
  readonly logins?: Logins;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const NO_KEYS = { byHash: async () => null, byId: async () => null };

export function createAccess(token: string, options: AccessOptions = {}): Access {
  const { keys = NO_KEYS, owner = 'owner', now = Date.now } = options;
  const { logins = createLogins(undefined, now) } = options;
  const codes = new LRUCache<string, { readonly keyId: string | null; readonly until: number }>({
    max: DEFAULTS.codes,
  });
  const theOwner: Principal = { name: owner, user: owner, role: 'owner', keyId: null };

  const keyOf = async (secret: string): Promise<ApiKey | null> =>
    secret.startsWith(KEY_PREFIX) ? await keys.byHash(digest(secret).toString('hex')) : null;
  const principalOf = (key: ApiKey): Principal => ({
    name: key.name,
    user: key.user,
    role: key.role,
    keyId: key.id,
  });

  return {
    logins,
    async identify(credential) {
      if (credential === undefined) return null;
      if (isLoginSecret(credential)) {
        const login = await logins.find(credential);
        if (!login) return null;
        // A login ends with the key it was made with.
        const key = login.keyId === null ? null : await keys.byId(login.keyId);
        if (login.keyId !== null && !key) return null;
        return { ...(key ? principalOf(key) : theOwner), loginId: login.id };
      }
      if (timingSafeEqual(digest(credential), digest(token))) return theOwner;
      const key = await keyOf(credential);
      return key && principalOf(key);
    },
    createLoginCode(key) {
      const code = randomBytes(24).toString('base64url');
      codes.set(code, { keyId: key?.id ?? null, until: now() + DEFAULTS.codeMs });
      return code;
    },
    async redeemLoginCode(code, about = '') {
      const found = codes.get(code);
      codes.delete(code);
      return found && found.until > now() ? await logins.open(found.keyId, about) : null;
    },
    async sessionFor(secret, about = '') {
      const key = await keyOf(secret);
      return key && (await logins.open(key.id, about));
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
