import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { KEY_PREFIX, type Principal } from '../../core/vocabulary/principal.ts';
import type { KeyRing } from '../../engine/people/people-service.ts';
import type { ApiKey } from '../../engine/ports.ts';

const DEFAULTS = {
  /** Lifetime of a login link, in milliseconds. */
  codeMs: 15 * 60_000,
  /** Maximum number of links; a further one invalidates the oldest. */
  codes: 100,
  /** Lifetime of a login, in milliseconds. */
  lifeMs: 30 * 24 * 60 * 60_000,
  /** Maximum number of logins; a further one ends the oldest. */
  most: 100,
  secretBytes: 32,
  /** Characters of a user agent to keep. */
  about: 200,
};

/** What a page stores instead of a token or key; only its own origin can read it. */
export interface Session {
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface Access {
  /** The caller with this token, key or login; null if the credential is invalid. */
  identify(credential: string | undefined): Promise<Principal | null>;
  /** A short-lived code for one login, as the owner or as the user of the key. */
  createLoginCode(key?: ApiKey): string;
  /** Exchanges a code for a login, once; null if the code was used or has expired. */
  redeemLoginCode(code: string, about?: string): Promise<Session | null>;
  /** For a person who typed in a key; null if the key is invalid or revoked. */
  sessionFor(key: string, about?: string): Promise<Session | null>;
  /** The user of a key, or the owner for null; null if the key is unknown or revoked. */
  principalFor(keyId: string | null): Promise<Principal | null>;
  readonly logins: Pick<Logins, 'list' | 'revoke'>;
}

export interface AccessOptions {
  readonly keys?: Pick<KeyRing, 'byHash' | 'byId'>;
  /** Name of the data folder's owner. */
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
    ...(key.scope && { scope: key.scope }),
  });

  const principalFor = async (keyId: string | null) => {
    const key = keyId === null ? null : await keys.byId(keyId);
    if (keyId !== null) return key && principalOf(key);
    return theOwner;
  };

  return {
    logins,
    principalFor,
    async identify(credential) {
      if (credential === undefined) return null;
      if (isLoginSecret(credential)) {
        const login = await logins.find(credential);
        if (!login) return null;
        // A login ends when its key is revoked.
        const who = await principalFor(login.keyId);
        return who && { ...who, loginId: login.id };
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

/** Distinguishes the secret of a login from tokens and keys. */
const PREFIX = 'pmls_';

/** A logged-in browser. Times are milliseconds since 1970. */
export interface Login {
  readonly id: string;
  /** The key of its user; null for the data folder's owner. */
  readonly keyId: string | null;
  /** The browser's user agent. */
  readonly about: string;
  readonly madeAt: number;
  readonly expiresAt: number;
}

/** Stores logins across restarts, with hashes of their secrets only. */
export interface LoginFile {
  read(): Promise<string | null>;
  write(text: string): Promise<void>;
}

export interface Logins {
  /** The secret is returned once and not stored. */
  open(keyId: string | null, about: string): Promise<{ readonly secret: string; readonly expiresAt: number }>;
  find(secret: string): Promise<Login | null>;
  /** Oldest first. */
  list(): Promise<Login[]>;
  /** Returns false if the id is unknown. */
  revoke(id: string): Promise<boolean>;
}

interface KeptLogin extends Login {
  readonly hash: string;
}

const FORGETFUL: LoginFile = { read: async () => null, write: async () => {} };

function isLoginSecret(credential: string): boolean {
  return credential.startsWith(PREFIX);
}

/** The logins of this gateway: each has its own secret and expiry, and can be revoked separately. */
export function createLogins(file: LoginFile = FORGETFUL, now: () => number = Date.now): Logins {
  let kept: Promise<Map<string, KeptLogin>> | null = null;
  const current = async () => {
    kept ??= file.read().then((text) => new Map(readLogins(text).map((login) => [login.id, login])));
    const logins = await kept;
    for (const { id, expiresAt } of logins.values()) if (expiresAt <= now()) logins.delete(id);
    return logins;
  };
  const save = async (logins: Map<string, KeptLogin>) =>
    await file.write(`${JSON.stringify([...logins.values()])}\n`);

  return {
    async open(keyId, about) {
      const logins = await current();
      const id = randomUUID();
      const secret = `${PREFIX}${id}.${randomBytes(DEFAULTS.secretBytes).toString('base64url')}`;
      const madeAt = now();
      const expiresAt = madeAt + DEFAULTS.lifeMs;
      const hash = digest(secret).toString('hex');
      logins.set(id, { id, keyId, about: about.slice(0, DEFAULTS.about), madeAt, expiresAt, hash });
      const oldest = logins.size > DEFAULTS.most ? logins.keys().next().value : undefined;
      if (oldest !== undefined) logins.delete(oldest);
      await save(logins);
      return { secret, expiresAt };
    },
    async find(secret) {
      const [id = ''] = secret.slice(PREFIX.length).split('.');
      const login = (await current()).get(id);
      return login && timingSafeEqual(digest(secret), Buffer.from(login.hash, 'hex')) ? shown(login) : null;
    },
    list: async () => [...(await current()).values()].map(shown),
    async revoke(id) {
      const logins = await current();
      if (!logins.delete(id)) return false;
      await save(logins);
      return true;
    },
  };
}

function shown({ hash: _, ...login }: KeptLogin): Login {
  return login;
}

/** A damaged file ends all logins and has no other effect. */
function readLogins(text: string | null): KeptLogin[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? read.filter(isKeptLogin) : [];
  } catch {
    return [];
  }
}

function isKeptLogin(value: unknown): value is KeptLogin {
  const { id, hash, expiresAt } = (value ?? {}) as Partial<KeptLogin>;
  return typeof id === 'string' && /^[0-9a-f]{64}$/.test(hash ?? '') && typeof expiresAt === 'number';
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
