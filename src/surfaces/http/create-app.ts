import { deserialize, serialize } from 'node:v8';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { routePath } from 'hono/route';
import { secureHeaders } from 'hono/secure-headers';
import { type Outcome, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import { asAgent } from '../../engine/people/roles.ts';
import type { Logger, RemoteProcedures } from '../../engine/ports.ts';
import { callProcedure } from '../../engine/remote-procedures.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import type { Access } from './access.ts';
import { createFairShare } from './fair-share.ts';
import {
  checkHostAndOrigin,
  countFailures,
  refuse,
  requireRight,
  routeRights,
  tooMany,
  whoIs,
} from './guard.ts';
import { CONTENT_POLICY, mountPage, type PageHandlers } from './page.ts';
import type { Readiness } from './readiness.ts';

const DEFAULTS = {
  maxLoginBytes: 4 * 1024,
  maxBodyBytes: 4 * 1024 * 1024,
  maxMcpBytes: 32 * 1024 * 1024,
  maxBridgeBytes: 256 * 1024 * 1024,
  /** How long a refused client is told to wait, in seconds. */
  retryAfterS: 5,
};

/** The MCP surface as this one mounts it. */
export interface McpHandlers {
  /** `/mcp`. */
  gateway(request: Request, who: Principal): Promise<Response>;
  /** `/mcp/servers/<name>`. */
  server(name: string, request: Request, who: Principal): Promise<Response>;
}

export interface AppOptions {
  readonly access: Access;
  readonly allowedHosts: () => readonly string[];
  readonly procedures: RemoteProcedures;
  readonly logger: Logger;
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  /** What `/healthz` says beside its status. */
  readonly about: () => Readonly<Record<string, unknown>>;
  readonly mcp?: McpHandlers;
  /** `/api`. */
  readonly api?: Hono;
  /** What `/api` offers; absent: all that PML can be asked. */
  readonly operations?: readonly AnyOperation[];
  readonly traffic?: Traffic;
  /** What `/readyz` says: whether work is taken now. */
  readonly ready?: () => Promise<Readiness>;
  /** `/metrics`. */
  readonly metrics?: () => Promise<{ readonly type: string; readonly text: string }>;
  /** For a person who opens the address in a browser. */
  readonly page?: PageHandlers;
}

/** The order is the policy: who may speak at all, what is open, then the token, then everything else. */
export function createApp(options: AppOptions): Hono {
  const app = new Hono();
  app.onError((error, context) => {
    options.logger.log('error', 'A request failed', { path: context.req.path, error: error.message });
    return refuse(context, 500, 'internal', error.message);
  });
  app.notFound((context) => refuse(context, 404, 'not_found', `There is nothing at ${context.req.path}`));

  app.use(checkHostAndOrigin(options.allowedHosts));
  if (options.traffic) app.use(options.traffic.middleware);
  app.use(
    secureHeaders({
      contentSecurityPolicy: CONTENT_POLICY,
      // Plain HTTP on loopback: a browser must not be told to insist on TLS here.
      strictTransportSecurity: false,
    }),
  );

  app.get('/healthz', (context) => context.json({ status: 'ok', ...options.about() }));
  app.get('/readyz', async (context) => {
    const { ready } = options;
    const status = ready ? await ready() : 'ready';
    return context.json({ status }, status === 'ready' ? 200 : 503);
  });
  const { page } = options;
  const failures = countFailures(options.now);
  // The code stands behind a # and is not in this request: the page hands it in, and a program that only previews a link
  // does not use it up.
  if (page) app.get('/login', (context) => page.index(context.req.raw));
  app.post('/login', limit(DEFAULTS.maxLoginBytes), async (context) => {
    if (failures.areTooMany()) return tooMany(context);
    const form = await context.req.parseBody().catch(() => null);
    if (form === null) return refuse(context, 400, 'invalid_argument', 'The body is not a form');
    const { code, key } = form;
    const about = context.req.header('user-agent') ?? '';
    const session =
      code === undefined
        ? await options.access.sessionFor(String(key ?? ''), about)
        : await options.access.redeemLoginCode(String(code), about);
    if (session === null) {
      failures.add();
      const why =
        code === undefined
          ? 'This key is invalid or revoked'
          : 'This login link was used already, or is too old';
      return refuse(context, 403, 'forbidden', why, 'Run "pml login" for a new link.');
    }
    const { secret, expiresAt } = session;
    return context.json({ session: secret, expires_at: new Date(expiresAt).toISOString() }, 200, {
      'cache-control': 'no-store',
    });
  });

  if (page) mountPage(app, page);
  const rights = routeRights(options.operations);
  app.use(requireRight(options.access, rights, failures, createFairShare(options.now)));
  app.post('/bridge', limit(DEFAULTS.maxBridgeBytes), async (context) => {
    const call = readCall(Buffer.from(await context.req.arrayBuffer()));
    if (call === null) return refuse(context, 400, 'invalid_argument', 'The body is not a call');
    const { room, method, args } = call;
    const outcome = await settle(() =>
      callProcedure(options.procedures, room, method, args, context.req.raw.signal),
    );
    return context.body(new Uint8Array(serialize(outcome)));
  });
  const { mcp } = options;
  if (mcp) {
    app.all('/mcp', limit(DEFAULTS.maxMcpBytes), (context) =>
      mcp.gateway(context.req.raw, asAgent(whoIs(context))),
    );
    app.all('/mcp/servers/:name', limit(DEFAULTS.maxMcpBytes), (context) =>
      mcp.server(context.req.param('name'), context.req.raw, asAgent(whoIs(context))),
    );
  }
  app.use(limit(DEFAULTS.maxBodyBytes));
  const { metrics } = options;
  if (metrics) {
    app.get('/metrics', async (context) => {
      const { type, text } = await metrics();
      return context.body(text, 200, { 'content-type': type });
    });
  }
  if (options.api) app.route('/api', options.api);
  return app;
}

/** A call of a procedure as the other end wrote it; null for anything else. */
function readCall(bytes: Buffer): { room: string; method: string; args: readonly unknown[] } | null {
  try {
    const { room, method, args } = deserialize(bytes);
    const isCall = typeof room === 'string' && typeof method === 'string' && Array.isArray(args);
    return isCall ? { room, method, args } : null;
  } catch {
    return null;
  }
}

function limit(maxSize: number) {
  return bodyLimit({
    maxSize,
    onError: (context) => refuse(context, 413, 'too_large', `A request may have at most ${maxSize} bytes`),
  });
}

async function settle(work: () => Promise<unknown>): Promise<Outcome<unknown>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: PmlError.from(error).toShape() };
  }
}

/** They say how the gateway is, also while it ends. */
const ALWAYS = new Set(['/healthz', '/readyz', '/metrics']);

interface Answered {
  readonly method: string;
  /** As it was registered; `other` for what leads nowhere. */
  readonly route: string;
  readonly status: number;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** What comes in, told when it is answered, and turned away once the gateway ends. */
interface Traffic {
  readonly middleware: MiddlewareHandler;
  /** Requests whose answer has not begun. */
  waiting(): number;
  /** Turns new work away from now on. */
  stop(): void;
  isStopping(): boolean;
}

export function createTraffic(onAnswered: (answered: Answered) => void): Traffic {
  let waiting = 0;
  let isStopping = false;
  return {
    waiting: () => waiting,
    isStopping: () => isStopping,
    stop() {
      isStopping = true;
    },

    middleware: async (context, next) => {
      const { method, path } = context.req;
      if (isStopping && !ALWAYS.has(path)) {
        context.header('Retry-After', String(DEFAULTS.retryAfterS));
        return refuse(context, 503, 'stopping', 'This gateway is ending', 'Try again in a moment.');
      }
      const startedAt = new Date();
      const began = performance.now();
      waiting += 1;
      try {
        await next();
      } finally {
        waiting -= 1;
      }
      const durationMs = performance.now() - began;
      onAnswered({ method, route: routeOf(context), status: context.res.status, startedAt, durationMs });
      return undefined;
    },
  };
}

/** Only what was registered, or anybody could make up as many as there are paths. */
function routeOf(context: Context): string {
  const route = routePath(context, -1);
  return route.includes('*') ? 'other' : route;
}
