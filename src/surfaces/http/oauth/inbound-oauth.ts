import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import {
  bearerAuthChallengeResponse,
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
} from '@modelcontextprotocol/server';
import type { Context, Hono } from 'hono';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { KeyRing } from '../../../engine/people/key-ring.ts';
import { asAgent, may } from '../../../engine/people/roles.ts';
import type { Logger, OAuthSettings } from '../../../engine/ports.ts';
import { type Access, countFailures, type Failures, refuse, type TokenCheck, tooMany } from '../guard.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import type { ExternalIssuer } from './external-issuer.ts';

const DEFAULTS = {
  /** Requests per minute by which strangers make the gateway store or fetch something. */
  strangersPerMinute: 120,
  fetchesPerMinute: 30,
  maxDecisionBytes: 4 * 1024,
};

/** What a client may do with a token: use the tools, as an agent with the person's key. */
const SCOPE = 'pml:run';

const OAUTH_PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  jwks: '/oauth/jwks',
  consent: '/oauth/consent',
};

/** The answers of the protocol hold no page: nothing in them may run, be framed or be kept. */
const HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export interface InboundOAuth extends TokenCheck {
  /** Adds the addresses of the protocol and of the consent page. */
  mount(app: Hono, failures: Failures, page: ((request: Request) => Promise<Response>) | undefined): void;
}

export interface InboundOAuthOptions {
  readonly gateway: Pick<Gateway, 'settings' | 'store' | 'people'>;
  readonly access: Access;
  readonly keys: Pick<KeyRing, 'byId' | 'byName'>;
  readonly logger: Logger;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Gets client-id metadata documents; by default from public addresses only. */
  readonly fetch?: typeof fetch;
}

/** Off unless `pml.http.oauth` is set. The libraries of the protocol are loaded when they are first needed. */
export function createInboundOAuth(options: InboundOAuthOptions): InboundOAuth {
  const { gateway, access, keys, logger, now = Date.now } = options;
  const settings = () => gateway.settings().http.oauth;
  const fetches = countFailures(now, DEFAULTS.fetchesPerMinute);

  const isAttached = (name: string) =>
    gateway.settings().servers.some((server) => server.name === name && !server.disabled);

  const server = keptWhile(settings, async ({ url }: OAuthSettings): Promise<AuthorizationServer> => {
    const { createAuthorizationServer } = await import('./authorization-server.ts');
    const { createPublicFetch } = await import('./public-fetch.ts');
    return createAuthorizationServer({
      url,
      paths: OAUTH_PATHS,
      scope: SCOPE,
      store: gateway.store.oauth,
      isActive: async (keyId) => (await keys.byId(keyId)) !== null,
      isResource(resource) {
        const path = resource.startsWith(url) ? resource.slice(url.length) : '';
        const name = /^\/mcp\/servers\/([^/]+)$/.exec(path)?.[1];
        return resourceAt(url, path) === resource && (name === undefined || isAttached(name));
      },
      record: async (action, entry) =>
        await gateway.store.audit.append({ at: new Date(now()), action, hash: null, ...entry }),
      fetch: options.fetch ?? createPublicFetch(),
      mayFetch() {
        fetches.add();
        return !fetches.areTooMany();
      },
      now,
      onError: (error) => logger.log('error', 'The authorization server failed', { error: error.message }),
    });
  });
  const issuer = keptWhile(settings, async (current: OAuthSettings): Promise<ExternalIssuer> => {
    const { createExternalIssuer } = await import('./external-issuer.ts');
    return createExternalIssuer(current.issuer!);
  });

  const issued = async (token: string, resource: string) => {
    const found = await (await server()).find(token);
    return found?.audience === resource ? found : null;
  };
  const verified = async (token: string, resource: string) => {
    const found = await (await issuer()).verify(token, resource);
    const key = found && (await keys.byName(found.keyName));
    return found && key && { ...found, keyId: key.id };
  };

  return {
    async identify(token, path) {
      const current = settings();
      const resource = current && resourceAt(current.url, path);
      if (!resource) return null;
      const found = await (current.issuer ? verified : issued)(token, resource);
      const who = found && (await access.principalFor(found.keyId));
      if (!found || !who) return null;
      if (!neededScopes(current).every((scope) => found.scopes.has(scope))) return 'insufficient_scope';
      // No client has more rights than an agent, and one of a viewer has not even those.
      return { ...(may(who, 'run') ? asAgent(who) : who), clientId: found.clientId };
    },

    challenge(path, error) {
      const current = settings();
      const resource = current && resourceAt(current.url, path);
      if (!resource) return null;
      const why = error === 'invalid_token' ? 'A valid token is required' : 'The token lacks a scope';
      const code = error === 'invalid_token' ? OAuthErrorCode.InvalidToken : OAuthErrorCode.InsufficientScope;
      return bearerAuthChallengeResponse(new OAuthError(code, why), {
        resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(new URL(resource)),
        requiredScopes: neededScopes(current),
      }).headers.get('www-authenticate');
    },

    mount(app, failures, page) {
      const strangers = countFailures(now, DEFAULTS.strangersPerMinute);
      const isBuiltIn = () => settings() !== undefined && settings()?.issuer === undefined;

      app.get('/.well-known/oauth-protected-resource/*', async (context, next) => {
        const current = settings();
        const path = context.req.path.slice('/.well-known/oauth-protected-resource'.length);
        const resource = current && resourceAt(current.url, path);
        if (!resource) return await next();
        return context.json(metadataOf(current, resource), 200, { 'cache-control': 'public, max-age=300' });
      });

      const protocol = async (context: Context, next: () => Promise<void>) => {
        // One spelling of each address: the library reads it as it was sent, and the checks go by it.
        const isAsSent = new URL(context.req.url).pathname === context.req.path;
        if (!isBuiltIn() || !isAsSent) return await next();
        const isOpenToStrangers = [OAUTH_PATHS.authorize, OAUTH_PATHS.register].includes(context.req.path);
        if (isOpenToStrangers) strangers.add();
        if (isOpenToStrangers && strangers.areTooMany()) return tooMany(context);
        const { incoming, outgoing } = context.env as HttpBindings;
        for (const [name, value] of Object.entries(HEADERS)) outgoing.setHeader(name, value);
        await (await server()).handle(incoming as never, outgoing as never);
        return RESPONSE_ALREADY_SENT;
      };
      const { authorize, token, register, revoke, jwks, consent } = OAUTH_PATHS;
      app.on(
        'GET',
        [
          '/.well-known/oauth-authorization-server',
          '/.well-known/openid-configuration',
          authorize,
          `${authorize}/:uid`,
          jwks,
        ],
        protocol,
      );
      app.on('POST', [token, register, revoke], protocol);

      app.get(`${consent}/:uid`, async (context, next) =>
        page && isBuiltIn() ? await page(context.req.raw) : await next(),
      );
      app.on(['GET', 'POST'], `${consent}/:uid/decision`, async (context, next) => {
        if (!isBuiltIn()) return await next();
        if (failures.areTooMany()) return tooMany(context);
        const person = await personOf(context, access);
        if (person === null) {
          if (context.req.header('authorization') !== undefined) failures.add();
          return refuse(context, 401, 'unauthorized', 'Log in to decide about this client');
        }
        try {
          context.header('Cache-Control', 'no-store');
          return context.json(await aboutConsent(context, person));
        } catch (error) {
          const { code, message, hint } = PmlError.from(error);
          return refuse(
            context,
            code === 'forbidden' ? 403 : code === 'not_found' ? 404 : 400,
            code,
            message,
            hint,
          );
        }
      });
    },
  };

  /** What is asked, on GET; and the answer to it, on POST. */
  async function aboutConsent(context: Context, person: Principal): Promise<Record<string, unknown>> {
    const { incoming, outgoing } = context.env as HttpBindings;
    const uid = context.req.param('uid') ?? '';
    if (!may(person, 'run'))
      throw new PmlError('forbidden', `A key with role ${person.role} may not let a client run anything`, {
        hint: 'Log in with a key that has the role agent.',
      });
    const choices = await actorsFor(person);
    if (context.req.method === 'GET') {
      const asked = await (await server()).consent(uid, incoming as never, outgoing as never);
      return {
        client_id: asked.clientId,
        client_name: asked.clientName,
        redirect_host: asked.redirectHost,
        is_local: asked.isLocal,
        resource: asked.resource,
        scopes: asked.scopes,
        actors: choices.map(({ name, keyId, user }) => ({ name, key_id: keyId, user })),
      };
    }
    const { allow, key_id: keyId } = await readDecision(context);
    const actor = choices.find((choice) => choice.keyId === keyId);
    if (allow && !actor) throw new PmlError('forbidden', 'A client can only act with a key of your own');
    const allowed = allow && actor ? { keyId: actor.keyId, user: actor.user } : null;
    const by = person.keyId === null ? 'dashboard' : person.name;
    const where = await (await server()).decide(uid, incoming as never, outgoing as never, { allowed, by });
    return { location: where };
  }

  /** With whose rights a client may act: the person's own, or for the owner those of any key that runs tools. */
  async function actorsFor(person: Principal): Promise<Principal[]> {
    if (person.keyId !== null) return [person];
    const active = (await gateway.people.keys()).filter((key) => key.revokedAt === null && may(key, 'run'));
    const others = await Promise.all(active.map(({ id }) => access.principalFor(id)));
    return [person, ...others.filter((other) => other !== null)];
  }
}

/** Only a browser in which somebody logged in: the page shows them what they allow. */
async function personOf(context: Context, access: Access): Promise<Principal | null> {
  const credential = /^Bearer (.+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
  const who = await access.identify(credential);
  return who?.loginId === undefined ? null : who;
}

async function readDecision(context: Context): Promise<{ allow: boolean; key_id: string | null }> {
  const length = Number(context.req.header('content-length') ?? Number.POSITIVE_INFINITY);
  const text = length <= DEFAULTS.maxDecisionBytes ? await context.req.text() : '';
  const body = (() => {
    try {
      return JSON.parse(text) as Record<string, unknown> | null;
    } catch {
      return null;
    }
  })();
  const { allow, key_id: keyId = null } = body ?? {};
  if (typeof allow !== 'boolean' || (keyId !== null && typeof keyId !== 'string'))
    throw new PmlError('invalid_argument', 'The body must be {"allow": true or false, "key_id": …}');
  return { allow, key_id: keyId };
}

/** The identifier of the MCP endpoint at a path; null for every other path. */
function resourceAt(url: string, path: string): string | null {
  const bare = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  return /^\/mcp(?:\/all|\/servers\/[\w.-]{1,128})?$/.test(bare) ? `${url}${bare}` : null;
}

function neededScopes({ issuer }: OAuthSettings): string[] {
  return issuer ? [...issuer.scopes] : [SCOPE];
}

/** RFC 9728. */
function metadataOf(current: OAuthSettings, resource: string) {
  const scopes = neededScopes(current);
  return buildOAuthProtectedResourceMetadata({
    // Only the issuer of it is used.
    oauthMetadata: { issuer: current.issuer?.url ?? current.url } as never,
    resourceServerUrl: new URL(resource),
    resourceName: 'PML',
    ...(scopes.length > 0 && { scopesSupported: scopes }),
    // The configuration allows http for this machine alone.
    dangerouslyAllowInsecureIssuerUrl: true,
  });
}

/** Makes something of the settings when it is first needed, and again when they have changed. */
function keptWhile<T>(
  settings: () => OAuthSettings | undefined,
  make: (current: OAuthSettings) => Promise<T>,
): () => Promise<T> {
  let kept: { readonly of: string; readonly value: Promise<T> } | null = null;
  return async () => {
    const current = settings();
    if (!current) throw new PmlError('not_available', 'pml.http.oauth is not set');
    const of = JSON.stringify(current);
    if (kept?.of !== of) kept = { of, value: make(current) };
    return await kept.value;
  };
}
