import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { KEY_PREFIX, type Principal } from '../../core/vocabulary/principal.ts';
import type { KeyRing } from '../../engine/people/key-ring.ts';
import type { ApiKey } from '../../engine/ports.ts';

/** What a browser may hold instead of a token or key: derived from it, so that it ends with it. */
const SESSION_PURPOSE = 'pml browser session';
export const SESSION_COOKIE = 'pml_session';

export interface Access {
  /** Who comes with the data dir's token, with a key, or with a session made from either; null for nobody. */
  identify(credential: string | undefined): Promise<Principal | null>;
  /** A code for one login, good until used: as the owner, or as whoever has the key. */
  createLoginCode(key?: ApiKey): string;
  /** The session that goes with a code, once. */
  redeemLoginCode(code: string): string | null;
  /** For a browser whose person typed a key in; null when the key is not good. */
  sessionFor(key: string): Promise<string | null>;
}

export interface AccessOptions {
  readonly keys?: Pick<KeyRing, 'byHash' | 'byId'>;
  /** Name of the person who owns the data dir. */
  readonly owner?: string;
}

const NO_KEYS = { byHash: async () => null, byId: async () => null };

export function createAccess(token: string, { keys = NO_KEYS, owner = 'owner' }: AccessOptions = {}): Access {
  const seal = (text: string) => createHmac('sha256', token).update(text).digest('base64url');
  const ownSession = seal(SESSION_PURPOSE);
  const sessionOf = ({ id, hash }: ApiKey) => `${id}.${seal(`${SESSION_PURPOSE} ${id} ${hash}`)}`;
  const codes = new Map<string, string>();
  const theOwner: Principal = { name: owner, user: owner, role: 'owner', keyId: null };

  const keyOf = async (credential: string): Promise<ApiKey | null> => {
    if (credential.startsWith(KEY_PREFIX)) return await keys.byHash(digest(credential).toString('hex'));
    const [, id] = /^([0-9a-f-]{36})\./.exec(credential) ?? [];
    const key = id === undefined ? null : await keys.byId(id);
    return key && isSame(credential, sessionOf(key)) ? key : null;
  };

  return {
    async identify(credential) {
      if (credential === undefined) return null;
      if (isSame(credential, token) || isSame(credential, ownSession)) return theOwner;
      const key = await keyOf(credential);
      return key && { name: key.name, user: key.user, role: key.role, keyId: key.id };
    },
    createLoginCode(key) {
      const code = randomBytes(24).toString('base64url');
      codes.set(code, key ? sessionOf(key) : ownSession);
      return code;
    },
    redeemLoginCode(code) {
      const session = codes.get(code) ?? null;
      codes.delete(code);
      return session;
    },
    async sessionFor(secret) {
      const key = secret.startsWith(KEY_PREFIX) ? await keyOf(secret) : null;
      return key && sessionOf(key);
    },
  };
}

/** Compared as digests: in constant time, whatever the lengths. */
function isSame(given: string, good: string): boolean {
  return timingSafeEqual(digest(given), digest(good));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
