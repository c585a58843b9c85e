import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { type ErrorCode, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import { may } from '../../engine/people/roles.ts';
import { type Access, SESSION_COOKIE } from './access.ts';
import { rightFor } from './route-rights.ts';
import { whileGood } from './while-good.ts';

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

const DEFAULTS = {
  /** Wrong credentials in a minute before further ones are refused unseen. */
  failuresPerMinute: 30,
};

/**
 * A page on another origin can make a browser send requests here; what it cannot do is choose the
 * Host and Origin that the browser adds. DNS rebinding shows in Host, cross-site calls in Origin.
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
    return await next();
  };
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
  throw new PmlError('unauthorized', 'Nobody was let in');
}

/** The one place where a request is let through: somebody is known by the credential, and may do this. */
export function requireRight(access: Access, now: () => number): MiddlewareHandler {
  let failures: number[] = [];
  return async (context, next) => {
    const bearer = /^Bearer (.+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    const credential = bearer ?? getCookie(context, SESSION_COOKIE);
    const who = await access.identify(credential).catch((error) => PmlError.from(error));
    if (who instanceof PmlError) return refuse(context, 503, who.code, who.message, who.hint);
    if (who && !may(who, rightFor(context.req.method, context.req.path))) {
      return refuse(
        context,
        403,
        'forbidden',
        `A key of role ${who.role} may not ${context.req.method} ${context.req.path}`,
        'Use a key of another role: an operator makes one with "pml keys create".',
      );
    }
    if (who) {
      context.set('who', who);
      await next();
      if (who.keyId !== null) context.res = whileGood(context.res, () => access.identify(credential));
      return;
    }
    failures = failures.filter((at) => at > now() - 60_000);
    if (failures.length >= DEFAULTS.failuresPerMinute) {
      return refuse(
        context,
        429,
        'rate_limited',
        'Too many requests without a valid token',
        'Wait a minute.',
      );
    }
    if (credential !== undefined) failures.push(now());
    return refuse(
      context,
      401,
      'unauthorized',
      credential === undefined ? 'A token is needed' : 'The token is not valid',
      'Send "Authorization: Bearer KEY" with a key of "pml keys create" or the token in the data dir, or run "pml login" for a browser link.',
    );
  };
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
