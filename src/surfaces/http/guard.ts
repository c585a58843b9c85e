import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { LRUCache } from 'lru-cache';
import { type ErrorCode, PmlError } from '../../core/vocabulary/pml-error.ts';
import { KEY_PREFIX, type Principal } from '../../core/vocabulary/principal.ts';
import type { KeyRing } from '../../engine/people/key-ring.ts';
import { isRestricted, may, type Right } from '../../engine/people/roles.ts';
import type { ApiKey } from '../../engine/ports.ts';
import type { FairShare } from './fair-share.ts';
import { createLogins, LOGIN_PREFIX, type Logins, type Session } from './logins.ts';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const DEFAULTS = {
  /** Lifetime of a login link, in milliseconds. */
  codeMs: 15 * 60_000,
  /** Maximum number of links; a further one invalidates the oldest. */
  codes: 100,
  /** Wrong credentials per minute before further requests are refused without a check. */
  failuresPerMinute: 30,
  /** Milliseconds between two checks while a stream is open. */
  everyMs: 1_000,
};

/**
 * A page on another origin can make a browser send requests here, but it cannot choose the Host, Origin and
 * Sec-Fetch-Site headers. Host reveals DNS rebinding, the other two reveal requests of other pages; a page on
 * another port of this machine has Sec-Fetch-Site `same-site`.
 */
export function checkHostAndOrigin(allowedHosts: () => readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    const host = context.req.header('host')?.toLowerCase();
    const hosts = allowedHosts();
    if (host === undefined || !hosts.includes(host)) {
      return refuse(context, 403, 'forbidden', `Host "${host ?? ''}" is not a host name of this gateway`);
    }
    const origin = context.req.header('origin')?.toLowerCase();
    const isOwn = (name: string) => origin === `http://${name}` || origin === `https://${name}`;
    if (origin !== undefined && !hosts.some(isOwn)) {
      return refuse(context, 403, 'forbidden', `Pages from ${origin} may not call this gateway`);
    }
    const site = context.req.header('sec-fetch-site');
    const isForeign = site === 'cross-site' || site === 'same-site';
    if (isForeign && !isNavigation(context)) {
      return refuse(context, 403, 'forbidden', 'Pages from other origins may not call this gateway');
    }
    return await next();
  };
}

/**
 * A person followed a link to a page. Such a request carries no credential, because browsers store none to
 * send.
 */
function isNavigation({ req }: Context): boolean {
  return (
    req.method === 'GET' &&
    req.header('sec-fetch-mode') === 'navigate' &&
    req.header('sec-fetch-dest') === 'document'
  );
}

/** Host names under which a listener on `host:port` may be addressed. */
export function hostsOf(host: string, port: number): string[] {
  const names = new Set([
    ...LOOPBACK_NAMES,
    host.includes(':') && !host.startsWith('[') ? `[${host}]` : host,
  ]);
  return [...names].map((name) => `${name.toLowerCase()}:${port}`);
}

/** The authenticated caller; set by `requireRight`. */
export function whoIs(context: Context): Principal {
  const who = context.get('who') as Principal | undefined;
  if (who) return who;
  throw new PmlError('unauthorized', 'Not authenticated');
}

/** The gateway's logins; undefined if the request was not authenticated. */
export function loginsOf(context: Context): Logins | undefined {
  return context.get('logins') as Logins | undefined;
}

/** Who callers are: by the token of the data folder, a key, or the login of a browser. */
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
  const tokenHash = hash('sha256', token, 'buffer');
  const theOwner: Principal = { name: owner, user: owner, role: 'owner', keyId: null };

  const keyOf = async (secret: string): Promise<ApiKey | null> =>
    secret.startsWith(KEY_PREFIX) ? await keys.byHash(hash('sha256', secret)) : null;
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
      if (credential.startsWith(LOGIN_PREFIX)) {
        const login = await logins.find(credential);
        if (!login) return null;
        // A login ends when its key is revoked.
        const who = await principalFor(login.keyId);
        return who && { ...who, loginId: login.id };
      }
      if (timingSafeEqual(hash('sha256', credential, 'buffer'), tokenHash)) return theOwner;
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

/** Counts requests with wrong credentials. */
export interface Failures {
  add(): void;
  /** Too many in the last minute: further requests are refused without a check. */
  areTooMany(): boolean;
}

export function countFailures(now: () => number, most = DEFAULTS.failuresPerMinute): Failures {
  let failures: number[] = [];
  return {
    add: () => void failures.push(now()),
    areTooMany() {
      failures = failures.filter((at) => at > now() - 60_000);
      return failures.length >= most;
    },
  };
}

/** Tokens of OAuth clients. */
export interface TokenCheck {
  /**
   * The caller with this token at this path; null if the token is not valid there. Tokens are for MCP endpoints only,
   * and each for one of them.
   */
  identify(token: string, path: string): Promise<Principal | 'insufficient_scope' | null>;
  /** `WWW-Authenticate` of a refused request: where its client finds out how to get a token. */
  challenge(path: string, error: 'invalid_token' | 'insufficient_scope'): string | null;
}

/** What routes require. */
interface RouteRights {
  /** The right a request needs. */
  rightFor(method: string, path: string): Right;
  /** Whether keys that may use only some tools may ask. */
  isScoped(method: string, path: string): boolean;
}

/**
 * The only place that authenticates and authorizes requests. The credential is always in the header and never
 * in a cookie, which a browser would send to every port of this machine.
 */
export function requireRight(
  access: Access,
  { rightFor, isScoped }: RouteRights,
  failures: Failures,
  share: FairShare,
  oauth?: TokenCheck,
): MiddlewareHandler {
  return async (context, next) => {
    const { path } = context.req;
    const credential = /^Bearer (.+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    const identify = async () =>
      (await access.identify(credential)) ??
      (credential === undefined ? null : ((await oauth?.identify(credential, path)) ?? null));
    const who = await identify().catch((error) => PmlError.from(error));
    if (who === 'insufficient_scope') {
      const challenge = oauth?.challenge(path, who);
      if (challenge) context.header('WWW-Authenticate', challenge);
      return refuse(context, 403, 'forbidden', 'The token lacks a scope', 'Have the client request it.');
    }
    if (who instanceof PmlError) return refuse(context, 503, who.code, who.message, who.hint);
    const right = rightFor(context.req.method, context.req.path);
    // Of what is the owner's alone, a page only needs the keys, which have a right of their own.
    if (who && (!may(who, right) || (right === 'bridge' && who.loginId !== undefined))) {
      return refuse(
        context,
        403,
        'forbidden',
        `A key with role ${who.role} may not ${context.req.method} ${context.req.path}`,
        'Use a key with another role; an operator can create one with "pml keys create".',
      );
    }
    if (who && isRestricted(who) && !isScoped(context.req.method, context.req.path)) {
      const what = `${context.req.method} ${context.req.path}`;
      const why = `Key "${who.name}" may use only some tools, and ${what} cannot be limited to them`;
      return refuse(context, 403, 'forbidden', why, 'Use a key without rules for tools and servers.');
    }
    if (who) {
      // The owner is not limited, and neither are decisions, which others wait for.
      const isShared =
        (who.keyId !== null || who.clientId !== undefined) && (right === 'read' || right === 'run');
      const leave = isShared ? await share.enter(who.user, context.req.raw.signal) : () => {};
      if (leave === null) {
        const why = `${who.user} already has too many waiting requests`;
        return refuse(context, 429, 'rate_limited', why, 'Wait for some of them to finish.');
      }
      context.set('who', who);
      context.set('logins', access.logins);
      await next().catch((error) => {
        leave();
        throw error;
      });
      context.header('Cache-Control', 'no-store');
      // An open event stream does not count.
      if (context.req.method === 'GET') leave();
      if (who.keyId !== null || who.loginId !== undefined || who.clientId !== undefined)
        context.res = whileGood(context.res, identify, leave);
      return;
    }
    const challenge = oauth?.challenge(path, 'invalid_token');
    // Who sends nothing guesses nothing: a new client learns in any case where to log in.
    if (failures.areTooMany() && (credential !== undefined || !challenge)) return tooMany(context);
    if (credential !== undefined) failures.add();
    if (challenge) context.header('WWW-Authenticate', challenge);
    return refuse(
      context,
      401,
      'unauthorized',
      credential === undefined ? 'A token is required' : 'The token is invalid',
      'Send "Authorization: Bearer KEY" with a key from "pml keys create" or the token in the data folder, or run "pml login" for a browser link.',
    );
  };
}

export function tooMany(context: Context): Response {
  return refuse(context, 429, 'rate_limited', 'Too many requests without a valid token', 'Wait a minute.');
}

export function refuse(
  context: Context,
  status: 400 | 401 | 403 | 404 | 413 | 429 | 500 | 503,
  code: ErrorCode,
  message: string,
  hint?: string,
): Response {
  return context.json({ error: { code, message, ...(hint !== undefined && { hint }) } }, status);
}

/** Ends an event stream when its reader has lost the right to it; other responses pass unchanged. */
function whileGood(
  response: Response,
  /** Null once the credential has become invalid. */
  identify: () => Promise<unknown>,
  /** Called when the stream has ended or its reader has disconnected. */
  onEnd: () => void,
  everyMs = DEFAULTS.everyMs,
): Response {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!isStream || !response.body) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  let timer: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(async () => {
        // If the store cannot be reached, the stream stays open.
        const isGood = await identify().then(
          (who) => who !== null,
          () => true,
        );
        if (isGood || timer === undefined) return;
        clearInterval(timer);
        timer = undefined;
        onEnd();
        await reader.cancel().catch(() => {});
        try {
          controller.close();
        } catch {
          // The reader disconnected at the same moment.
        }
      }, everyMs);
      timer.unref();
    },
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        onEnd();
        throw error;
      });
      if (!done) return controller.enqueue(value);
      clearInterval(timer);
      timer = undefined;
      onEnd();
      try {
        controller.close();
      } catch {
        // Already closed above.
      }
    },
    async cancel(reason) {
      clearInterval(timer);
      timer = undefined;
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
