import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { routePath } from 'hono/route';
import { secureHeaders } from 'hono/secure-headers';
import { type Outcome, PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import { asAgent, type Right } from '../../engine/people/roles.ts';
import type { BridgeCall, Logger } from '../../engine/ports.ts';
import type { AnswerCall } from '../../operations/bridged-operations.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { OPERATIONS } from '../../operations/table.ts';
import { createFairShare } from './fair-share.ts';
import {
  type Access,
  checkHostAndOrigin,
  countFailures,
  refuse,
  requireRight,
  tooMany,
  whoIs,
} from './guard.ts';
import type { Readiness } from './listen.ts';
import type { InboundOAuth } from './oauth/inbound-oauth.ts';

const DEFAULTS = {
  maxLoginBytes: 4 * 1024,
  maxBodyBytes: 4 * 1024 * 1024,
  maxMcpBytes: 32 * 1024 * 1024,
  maxBridgeBytes: 256 * 1024 * 1024,
  /** `Retry-After` of a refused request, in seconds. */
  retryAfterS: 5,
};

/** The MCP endpoints mounted here. */
export interface McpHandlers {
  /** `/mcp`. */
  gateway(request: Request, who: Principal): Promise<Response>;
  /** `/mcp/all`. */
  native(request: Request, who: Principal): Promise<Response>;
  /** `/mcp/servers/<name>`. */
  server(name: string, request: Request, who: Principal): Promise<Response>;
}

export interface AppOptions {
  readonly access: Access;
  readonly allowedHosts: () => readonly string[];
  /** Runs the operations that commands of other processes call. */
  readonly answerCall: AnswerCall;
  readonly logger: Logger;
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  /** Fields of the `/healthz` response besides its status. */
  readonly about: () => Readonly<Record<string, unknown>>;
  readonly mcp?: McpHandlers;
  /** `/api`. */
  readonly api?: Hono;
  /** Operations that `/api` offers; by default all. */
  readonly operations?: readonly AnyOperation[];
  readonly traffic?: Traffic;
  /** Readiness for `/readyz`. */
  readonly ready?: () => Promise<Readiness>;
  /** `/metrics`. */
  readonly metrics?: () => Promise<{ readonly type: string; readonly text: string }>;
  /** The dashboard. */
  readonly page?: PageHandlers;
  /** Logins of OAuth clients. */
  readonly oauth?: InboundOAuth;
}

/**
 * The order is the policy: Host and Origin checks, public routes, then authentication, then everything else.
 */
export function createApp(options: AppOptions): Hono {
  // Clients write the address of an endpoint with and without a slash at its end.
  const app = new Hono({ strict: false });
  app.onError((error, context) => {
    options.logger.log('error', 'A request failed', { path: context.req.path, error: error.message });
    return refuse(context, 500, 'internal', error.message);
  });
  app.notFound((context) => refuse(context, 404, 'not_found', `${context.req.path} does not exist`));

  app.use(checkHostAndOrigin(options.allowedHosts));
  if (options.traffic) app.use(options.traffic.middleware);
  app.use(
    secureHeaders({
      contentSecurityPolicy: CONTENT_POLICY,
      // Plain HTTP on loopback: browsers must not be told to require TLS.
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
  // The code is in the fragment (#), which is not part of this request: the page submits it, so a program
  // that only previews links does not use it up.
  if (page) app.get('/login', (context) => page.index(context.req.raw));
  app.post('/login', limit(DEFAULTS.maxLoginBytes), async (context) => {
    if (failures.areTooMany()) return tooMany(context);
    const form = await context.req.parseBody().catch(() => null);
    if (form === null) return refuse(context, 400, 'invalid_argument', 'The body must be a form');
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
          : 'This login link has been used or has expired';
      return refuse(context, 403, 'forbidden', why, 'Run "pml login" for a new link.');
    }
    const { secret, expiresAt } = session;
    return context.json({ session: secret, expires_at: new Date(expiresAt).toISOString() }, 200, {
      'cache-control': 'no-store',
    });
  });

  const { oauth } = options;
  oauth?.mount(app, failures, page && ((request) => page.index(request)));
  if (page) mountPage(app, page);
  const rights = routeRights(options.operations);
  app.use(requireRight(options.access, rights, failures, createFairShare(options.now), oauth));
  app.post('/bridge', limit(DEFAULTS.maxBridgeBytes), async (context) => {
    const call = readCall(await context.req.text());
    if (call === null) return refuse(context, 400, 'invalid_argument', 'The body is not a valid call');
    return context.json(await settle(() => options.answerCall(call, context.req.raw.signal)));
  });
  const { mcp } = options;
  if (mcp) {
    app.all('/mcp', limit(DEFAULTS.maxMcpBytes), (context) =>
      mcp.gateway(context.req.raw, asAgent(whoIs(context))),
    );
    app.all('/mcp/all', limit(DEFAULTS.maxMcpBytes), (context) =>
      mcp.native(context.req.raw, asAgent(whoIs(context))),
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

/** Unlisted routes need `manage`, and are not for keys that may use only some tools. */
export function routeRights(operations: readonly AnyOperation[] = OPERATIONS) {
  const routes = [...OTHERS, ...operations.flatMap(routesOf)];
  const table = routes.map((route) => ({ ...route, matches: matcher(route.path) }));
  const find = (method: string, path: string) => {
    // A HEAD request reveals the same as a GET, except for the body.
    const asked = method === 'HEAD' ? 'GET' : method;
    const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
    return table.find((route) => (route.method === '*' || route.method === asked) && route.matches(bare));
  };
  return {
    rightFor: (method: string, path: string): Right => find(method, path)?.right ?? 'manage',
    isScoped: (method: string, path: string): boolean => find(method, path)?.scoped ?? false,
    /** Whether a route pattern has an explicit right. */
    isListed(method: string, path: string): boolean {
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

/** A call sent by another PML process; null if it is malformed. */
function readCall(text: string): BridgeCall | null {
  try {
    const { operation, input, user } = JSON.parse(text) as Record<keyof BridgeCall, unknown>;
    return typeof operation === 'string' && typeof user === 'string' ? { operation, input, user } : null;
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

/** Health routes answer even while the gateway is stopping. */
const ALWAYS = new Set(['/healthz', '/readyz', '/metrics']);

interface Answered {
  readonly method: string;
  /** The route's pattern; `other` for unknown paths. */
  readonly route: string;
  readonly status: number;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** Counts requests, reports each response, and refuses new requests once the gateway is stopping. */
interface Traffic {
  readonly middleware: MiddlewareHandler;
  /** Requests whose response has not started. */
  waiting(): number;
  /** Refuses new requests from now on. */
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
        return refuse(context, 503, 'stopping', 'This gateway is stopping', 'Try again in a moment.');
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

/** Registered patterns only: otherwise callers could create any number of labels. */
function routeOf(context: Context): string {
  const route = routePath(context, -1);
  return route.includes('*') ? 'other' : route;
}

/** The dashboard's handlers, open to everyone because the page contains no data. */
interface PageHandlers {
  /** Whether a path belongs to the page's own router. */
  isPage(path: string): boolean;
  /** A file of the page; null if the path has none. */
  asset(request: Request): Promise<Response | null>;
  index(request: Request, status?: number): Promise<Response>;
}

/** Nothing inline and nothing from other origins; images of the graph are data and blob URLs. */
const CONTENT_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:', 'blob:'],
  connectSrc: ["'self'"],
  workerSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

function mountPage(app: Hono, page: PageHandlers): void {
  app.get('*', async (context, next) => {
    const file = await page.asset(context.req.raw);
    if (file) return file;
    // A page that is older than this gateway asks for files that are gone; logging in would not help.
    if (context.req.path.startsWith('/assets/')) return context.notFound();
    return page.isPage(context.req.path) ? await page.index(context.req.raw) : await next();
  });
}
