import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

const DEFAULTS = {
  /** Lifetime of a login, in milliseconds. */
  lifeMs: 30 * 24 * 60 * 60_000,
  /** Maximum number of logins; a further one ends the oldest. */
  most: 100,
  secretBytes: 32,
  /** Characters of a user agent to keep. */
  about: 200,
};

/** What a page stores instead of a token or key; only its own origin can read it. */
export interface Session extends Pick<Login, 'expiresAt'> {
  readonly secret: string;
}

/** Distinguishes the secret of a login from tokens and keys. */
export const LOGIN_PREFIX = 'pmls_';

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
  open(keyId: string | null, about: string): Promise<Session>;
  find(secret: string): Promise<Login | null>;
  /** Oldest first. */
  list(): Promise<Login[]>;
  /** Returns false if the id is unknown. */
  revoke(id: string): Promise<boolean>;
}

type KeptLogin = Login & { readonly hash: string };

const FORGETFUL: LoginFile = { read: async () => null, write: async () => {} };

/** The logins of this gateway: each has its own secret and expiry, and can be revoked separately. */
export function createLogins(file: LoginFile = FORGETFUL, now: () => number = Date.now): Logins {
  let kept: Promise<Map<string, KeptLogin>> | null = null;
  const current = async () => {
    kept ??= file.read().then((text) => new Map(readLogins(text).map((login) => [login.id, login])));
    const logins = await kept;
    for (const { id, expiresAt } of logins.values()) if (expiresAt <= now()) logins.delete(id);
    return logins;
  };
  const save = (logins: Map<string, KeptLogin>) => file.write(`${JSON.stringify([...logins.values()])}\n`);

  return {
    async open(keyId, about) {
      const logins = await current();
      const id = randomUUID();
      const secret = `${LOGIN_PREFIX}${id}.${randomBytes(DEFAULTS.secretBytes).toString('base64url')}`;
      const madeAt = now();
      const expiresAt = madeAt + DEFAULTS.lifeMs;
      const login = { id, keyId, about: about.slice(0, DEFAULTS.about), madeAt, expiresAt };
      logins.set(id, { ...login, hash: hash('sha256', secret) });
      const oldest = logins.size > DEFAULTS.most ? logins.keys().next().value : undefined;
      if (oldest !== undefined) logins.delete(oldest);
      await save(logins);
      return { secret, expiresAt };
    },
    async find(secret) {
      const [id = ''] = secret.slice(LOGIN_PREFIX.length).split('.');
      const login = (await current()).get(id);
      const isRight = login && timingSafeEqual(Buffer.from(hash('sha256', secret)), Buffer.from(login.hash));
      return isRight ? shown(login) : null;
    },
    list: async () => [...(await current()).values()].map(shown),
    async revoke(id) {
      const logins = await current();
      const isKnown = logins.delete(id);
      if (isKnown) await save(logins);
      return isKnown;
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
