import type { Context, MiddlewareHandler } from 'hono';
import { type ErrorCode, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import { isRestricted, may, type Right } from '../../engine/people/roles.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { OPERATIONS } from '../../operations/table.ts';
import type { Access, Logins } from './access.ts';
import type { FairShare } from './fair-share.ts';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const DEFAULTS = {
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
      return refuse(context, 403, 'forbidden', 'The token lacks a scope', 'Let the client ask for it.');
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
      const why = `Key "${who.name}" may use only some tools, and ${what} is not limited to them`;
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

/** Routes that are not operations: pages, streams and other protocols. */
const OTHERS: readonly RouteRight[] = [
  { method: 'GET', path: '/', right: 'read', scoped: true },
  { method: 'GET', path: '/metrics', right: 'read' },
  { method: 'POST', path: '/bridge', right: 'bridge' },
  { method: '*', path: '/mcp', right: 'run', scoped: true },
  { method: '*', path: '/mcp/all', right: 'run', scoped: true },
  { method: '*', path: '/mcp/servers/:name', right: 'run', scoped: true },
  { method: 'GET', path: '/api/events', right: 'read' },
  { method: 'GET', path: '/api/openapi.json', right: 'read', scoped: true },
];

interface RouteRight {
  readonly method: string;
  readonly path: string;
  readonly right: Right;
  /** As of operations. */
  readonly scoped?: true;
}

interface RouteRights {
  /** The right a request needs. Unlisted routes need `manage`. */
  rightFor(method: string, path: string): Right;
  /** Whether keys that may use only some tools may ask. Unlisted routes are not for them. */
  isScoped(method: string, path: string): boolean;
  /** Whether a route pattern has an explicit right. */
  isListed(method: string, path: string): boolean;
}

export function routeRights(operations: readonly AnyOperation[] = OPERATIONS): RouteRights {
  const routes = [...OTHERS, ...operations.flatMap(routesOf)];
  const table = routes.map((route) => ({ ...route, matches: matcher(route.path) }));
  const find = (method: string, path: string) => {
    // A HEAD request reveals the same as a GET, except for the body.
    const asked = method === 'HEAD' ? 'GET' : method;
    const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    return table.find((route) => (route.method === '*' || route.method === asked) && route.matches(bare));
  };
  return {
    rightFor: (method, path) => find(method, path)?.right ?? 'manage',
    isScoped: (method, path) => find(method, path)?.scoped ?? false,
    isListed(method, path) {
      return table.some((route) => route.path === path && (route.method === '*' || route.method === method));
    },
  };
}

/** Its own route, and the generic one by name. */
function routesOf({ name, right, scoped, http }: AnyOperation): RouteRight[] {
  const rights = { right, ...(scoped && { scoped }) };
  const byName = { method: 'POST', path: `/api/operations/${name}`, ...rights };
  return http ? [{ method: http.method, path: `/api${http.path}`, ...rights }, byName] : [byName];
}

/** `:name` matches one segment of the path. */
function matcher(path: string): (given: string) => boolean {
  const parts = path.split('/');
  return (given) => {
    const asked = given.split('/');
    return (
      asked.length === parts.length &&
      parts.every((part, i) => (part.startsWith(':') ? asked[i] !== '' : part === asked[i]))
    );
  };
}

/** Ends an event stream when its reader is no longer authorized; other responses pass unchanged. */
function whileGood(
  response: Response,
  /** Null when the credential is no longer valid. */
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
