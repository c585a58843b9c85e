import { deserialize, serialize } from 'node:v8';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Outcome } from '../../core/vocabulary/result.ts';
import type { Logger, RemoteProcedures } from '../../engine/ports.ts';
import { callProcedure } from '../../engine/remote-procedures.ts';
import { type Access, SESSION_COOKIE } from './access.ts';
import { checkHostAndOrigin, refuse, requireToken } from './guard.ts';

const DEFAULTS = {
  maxBodyBytes: 4 * 1024 * 1024,
  maxMcpBytes: 32 * 1024 * 1024,
  maxBridgeBytes: 256 * 1024 * 1024,
};

/** The MCP surface as this one mounts it. */
export interface McpHandlers {
  /** `/mcp`. */
  gateway(request: Request): Promise<Response>;
  /** `/mcp/servers/<name>`. */
  server(name: string, request: Request): Promise<Response>;
}

export interface AppOptions {
  readonly access: Access;
  readonly allowedHosts: () => readonly string[];
  readonly procedures: RemoteProcedures;
  readonly logger: Logger;
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  /** For a person who opens the address in a browser. */
  readonly welcome: () => string;
  /** What `/healthz` says beside its status. */
  readonly about: () => Readonly<Record<string, unknown>>;
  readonly mcp?: McpHandlers;
  /** `/api`. */
  readonly api?: Hono;
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
  app.use(
    secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'self'"], frameAncestors: ["'none'"] },
      // Plain HTTP on loopback: a browser must not be told to insist on TLS here.
      strictTransportSecurity: false,
    }),
  );

  app.get('/healthz', (context) => context.json({ status: 'ok', ...options.about() }));
  app.get('/login', (context) => {
    if (!options.access.redeemLoginCode(context.req.query('code') ?? '')) {
      return refuse(
        context,
        403,
        'forbidden',
        'This login link was used already',
        'Run "pml login" for a new one.',
      );
    }
    setCookie(context, SESSION_COOKIE, options.access.sessionValue, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
    });
    return context.redirect('/');
  });

  app.use(requireToken(options.access, options.now));
  app.post('/bridge', limit(DEFAULTS.maxBridgeBytes), async (context) => {
    const { room, method, args } = deserialize(Buffer.from(await context.req.arrayBuffer()));
    const outcome = await settle(() =>
      callProcedure(options.procedures, room, method, args, context.req.raw.signal),
    );
    return context.body(new Uint8Array(serialize(outcome)));
  });
  const { mcp } = options;
  if (mcp) {
    app.all('/mcp', limit(DEFAULTS.maxMcpBytes), (context) => mcp.gateway(context.req.raw));
    app.all('/mcp/servers/:name', limit(DEFAULTS.maxMcpBytes), (context) =>
      mcp.server(context.req.param('name'), context.req.raw),
    );
  }
  app.use(limit(DEFAULTS.maxBodyBytes));
  if (options.api) app.route('/api', options.api);
  app.get('/', (context) => context.text(options.welcome()));
  return app;
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
