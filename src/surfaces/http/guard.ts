import type { Context, MiddlewareHandler } from 'hono';
import { type ErrorCode, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import { may, type Right } from '../../engine/people/roles.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { OPERATIONS } from '../../operations/table.ts';
import type { Access, Logins } from './access.ts';
import type { FairShare } from './fair-share.ts';
import { whileGood } from './while-good.ts';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const DEFAULTS = {
  /** Wrong credentials in a minute before further ones are refused unseen. */
  failuresPerMinute: 30,
};

/**
 * A page on another origin can make a browser send requests here; what it cannot do is choose the
 * Host, Origin and Sec-Fetch-Site that the browser adds. DNS rebinding shows in Host, calls of other pages in the others:
 * to Sec-Fetch-Site, a page on another port of this machine is `same-site`.
 */
export function checkHostAndOrigin(allowedHosts: () => readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    const host = context.req.header('host')?.toLowerCase();
    const hosts = allowedHosts();
    if (host === undefined || !hosts.includes(host)) {
      return refuse(context, 403, 'forbidden', `Host "${host ?? ''}" is not one this gateway answers to`);
    }
    const origin = context.req.header('origin')?.toLowerCase();
    const isOwn = (name: string) => origin === `http://${name}` || origin === `https://${name}`;
    if (origin !== undefined && !hosts.some(isOwn)) {
      return refuse(context, 403, 'forbidden', `Pages of ${origin} may not talk to this gateway`);
    }
    const site = context.req.header('sec-fetch-site');
    const isForeign = site === 'cross-site' || site === 'same-site';
    if (isForeign && !isNavigation(context)) {
      return refuse(context, 403, 'forbidden', 'Pages of other origins may not talk to this gateway');
    }
    return await next();
  };
}

/** A person followed a link to a page. What needs a credential has none then: a browser keeps none that it would send. */
function isNavigation({ req }: Context): boolean {
  return (
    req.method === 'GET' &&
    req.header('sec-fetch-mode') === 'navigate' &&
    req.header('sec-fetch-dest') === 'document'
  );
}

/** The names under which a listener on `host:port` may be addressed. */
export function hostsOf(host: string, port: number): string[] {
  const names = new Set([
    ...LOOPBACK_NAMES,
    host.includes(':') && !host.startsWith('[') ? `[${host}]` : host,
  ]);
  return [...names].map((name) => `${name.toLowerCase()}:${port}`);
}

/** Who makes the request; known to everything behind `requireRight`. */
export function whoIs(context: Context): Principal {
  const who = context.get('who') as Principal | undefined;
  if (who) return who;
  throw new PmlError('unauthorized', 'Not authenticated');
}

/** The browsers that are logged in here; undefined where no request was authenticated. */
export function loginsOf(context: Context): Logins | undefined {
  return context.get('logins') as Logins | undefined;
}

/** Counts what was refused for its credential. */
export interface Failures {
  add(): void;
  /** There were too many in the last minute: what comes next is refused unseen. */
  areTooMany(): boolean;
}

export function countFailures(now: () => number): Failures {
  let failures: number[] = [];
  return {
    add: () => void failures.push(now()),
    areTooMany() {
      failures = failures.filter((at) => at > now() - 60_000);
      return failures.length >= DEFAULTS.failuresPerMinute;
    },
  };
}

/**
 * The one place where a request is let through: somebody is known by the credential, and may do this. A credential is
 * always in the header and never in a cookie, which a browser would send to every port of this machine.
 */
export function requireRight(
  access: Access,
  { rightFor }: RouteRights,
  failures: Failures,
  share: FairShare,
): MiddlewareHandler {
  return async (context, next) => {
    const credential = /^Bearer (.+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    const who = await access.identify(credential).catch((error) => PmlError.from(error));
    if (who instanceof PmlError) return refuse(context, 503, who.code, who.message, who.hint);
    const right = rightFor(context.req.method, context.req.path);
    // No page needs the store itself.
    if (who && (!may(who, right) || (right === 'bridge' && who.loginId !== undefined))) {
      return refuse(
        context,
        403,
        'forbidden',
        `A key of role ${who.role} may not ${context.req.method} ${context.req.path}`,
        'Use a key of another role: an operator makes one with "pml keys create".',
      );
    }
    if (who) {
      // The owner shares with nobody, and others wait for what operators decide.
      const isShared = who.keyId !== null && (right === 'read' || right === 'run');
      const leave = isShared ? await share.enter(who.user, context.req.raw.signal) : () => {};
      if (leave === null) {
        const why = `Too many requests of ${who.user} wait already`;
        return refuse(context, 429, 'rate_limited', why, 'Wait for the answers to some of them.');
      }
      context.set('who', who);
      context.set('logins', access.logins);
      await next().catch((error) => {
        leave();
        throw error;
      });
      context.header('Cache-Control', 'no-store');
      // Who only listens costs nothing.
      if (context.req.method === 'GET') leave();
      if (who.keyId !== null || who.loginId !== undefined)
        context.res = whileGood(context.res, () => access.identify(credential), leave);
      return;
    }
    if (failures.areTooMany()) return tooMany(context);
    if (credential !== undefined) failures.add();
    return refuse(
      context,
      401,
      'unauthorized',
      credential === undefined ? 'A token is needed' : 'The token is not valid',
      'Send "Authorization: Bearer KEY" with a key of "pml keys create" or the token in the data dir, or run "pml login" for a browser link.',
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

/** What is not an operation: pages, streams, and other protocols. */
const OTHERS: readonly RouteRight[] = [
  { method: 'GET', path: '/', right: 'read' },
  { method: 'GET', path: '/metrics', right: 'read' },
  { method: 'POST', path: '/bridge', right: 'bridge' },
  { method: '*', path: '/mcp', right: 'run' },
  { method: '*', path: '/mcp/servers/:name', right: 'run' },
  { method: 'GET', path: '/api/events', right: 'read' },
  { method: 'GET', path: '/api/openapi.json', right: 'read' },
];

interface RouteRight {
  readonly method: string;
  readonly path: string;
  readonly right: Right;
}

interface RouteRights {
  /** What a request needs. Routes that are not listed are for callers who manage. */
  rightFor(method: string, path: string): Right;
  /** Whether a route, as it was registered, has a right of its own. */
  isListed(method: string, path: string): boolean;
}

export function routeRights(operations: readonly AnyOperation[] = OPERATIONS): RouteRights {
  const routes = [...OTHERS, ...operations.flatMap(routesOf)];
  const table = routes.map((route) => ({ ...route, matches: matcher(route.path) }));
  return {
    rightFor(method, path) {
      // A HEAD request shows what a GET would, but for the body.
      const asked = method === 'HEAD' ? 'GET' : method;
      const found = table.find(
        (route) => (route.method === '*' || route.method === asked) && route.matches(path),
      );
      return found?.right ?? 'manage';
    },
    isListed(method, path) {
      return table.some((route) => route.path === path && (route.method === '*' || route.method === method));
    },
  };
}

/** Its own route, and the one that all have by name. */
function routesOf({ name, right, http }: AnyOperation): RouteRight[] {
  const byName = { method: 'POST', path: `/api/operations/${name}`, right };
  return http ? [{ method: http.method, path: `/api${http.path}`, right }, byName] : [byName];
}

/** `:name` stands for one part of the path. */
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
