import { createHash, generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Adapter, AdapterPayload, Configuration } from 'oidc-provider';
import { InvalidClientMetadata, InvalidGrant, InvalidTarget } from 'oidc-provider/lib/helpers/errors.js';
// Not by its main file, which warns on stderr of every Node that is not a release with long-term support.
import { Provider } from 'oidc-provider/lib/provider.js';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { OAuthStore } from '../../../engine/ports.ts';
import { CONNECTION } from '../../../operations/list-connections.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Seconds, where nothing else is said. */
const DEFAULTS = {
  codeTtl: 60,
  consentTtl: 10 * 60,
  accessTtl: HOUR,
  /** A client that is not used for so long has to ask again. */
  refreshTtl: 30 * DAY,
  grantTtl: 365 * DAY,
  /** A client that registered and was never allowed anything is forgotten. */
  strangerTtl: DAY,
  /** Such clients kept at the most; a further one replaces the oldest. */
  strangers: 500,
  /** Characters shown of a client's own name. */
  name: 80,
  /** Milliseconds for which a token that was found is not looked up again: it may be revoked elsewhere. */
  trustMs: 1_000,
  tokens: 1_000,
  /** Milliseconds between two removals of what has expired. */
  sweepMs: 60_000,
};

/** What the library keeps of a browser between two authorizations. Here each is asked for by itself. */
const FORGOTTEN = 'Session';

/** Their ids are secrets, and only the hashes of them are stored. */
const SECRET = new Set(['AccessToken', 'RefreshToken', 'AuthorizationCode']);

export interface IssuedToken {
  /** The key its client acts with; null for the owner of the data folder. */
  readonly keyId: string | null;
  readonly clientId: string;
  readonly scopes: ReadonlySet<string>;
  /** The endpoint it is for. */
  readonly audience: string;
}

/** What a person is asked to allow. */
export interface ConsentRequest {
  readonly clientId: string;
  readonly clientName: string;
  /** Where the answer goes: a host, or the scheme of an app. */
  readonly redirectHost: string;
  /** The answer goes to a program on the person's own machine. */
  readonly isLocal: boolean;
  /** The endpoint that the client wants to use. */
  readonly resource: string;
  readonly scopes: readonly string[];
}

export interface Decision {
  /** Null: refused. */
  readonly allowed: { readonly keyId: string | null; readonly user: string } | null;
  readonly by: string;
}

export interface AuthorizationServer {
  /** Answers one request for an address of the protocol. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Null if the token is unknown, expired or revoked. */
  find(token: string): Promise<IssuedToken | null>;
  /** The request that this browser opened. */
  consent(uid: string, request: IncomingMessage, response: ServerResponse): Promise<ConsentRequest>;
  /** Returns the address where the browser goes on. */
  decide(
    uid: string,
    request: IncomingMessage,
    response: ServerResponse,
    decision: Decision,
  ): Promise<string>;
}

export interface AuthorizationServerOptions {
  /** The public address of the gateway, which is the issuer. */
  readonly url: string;
  readonly paths: Readonly<
    Record<'authorize' | 'token' | 'register' | 'revoke' | 'jwks' | 'consent', string>
  >;
  /** The only scope there is. */
  readonly scope: string;
  readonly store: OAuthStore;
  /** Whether a key may still be used. */
  readonly isActive: (keyId: string) => Promise<boolean>;
  /** Whether a token may be issued for this endpoint. */
  readonly isResource: (resource: string) => boolean;
  /** For the audit log; `subject` is the connection. */
  readonly record: (
    action: 'client_connected' | 'client_disconnected',
    entry: { actor: string; subject: string; details: Readonly<Record<string, unknown>> },
  ) => Promise<void>;
  /** Gets client-id metadata documents. */
  readonly fetch: typeof fetch;
  /** False when too many were fetched lately. */
  readonly mayFetch: () => boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/**
 * OAuth 2.1 for MCP clients: codes with PKCE, for public clients that register or name a document, and opaque tokens
 * that can be revoked at once. `oidc-provider` has the protocol; here is what it may do.
 */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { url, paths, scope, store, now } = options;
  const issuer = new URL(url);
  const provider = new Provider(url, configurationOf(options));
  // The addresses in answers are those that clients reach, whatever a proxy in between says.
  provider.proxy = true;
  provider.on('server_error', (_context, error) => options.onError(error));
  provider.on('grant.revoked', (context, grantId) => {
    const details = { client_id: context.oidc.client?.clientId ?? null, route: context.oidc.route };
    const actor = context.oidc.client?.clientId ?? 'oauth';
    options.record('client_disconnected', { actor, subject: grantId, details }).catch(options.onError);
  });
  provider.use(async (context, next) => {
    const { query, response } = context;
    if (context.path === paths.authorize)
      context.query = { ...query, scope: knownScopes(query.scope, scope) };
    await next();
    const { body } = context as { body?: Record<string, unknown> };
    // The library counts in what it could do for clients that identify people.
    if (context.path.startsWith('/.well-known/') && context.status === 200)
      context.body = { ...body, scopes_supported: [scope, OFFLINE] };
    if (context.path === paths.register && context.status === 201) context.body = withoutSecret(body ?? {});
    const cookies = [response.headers['set-cookie'] ?? []].flat();
    if (cookies.length > 0)
      context.set(
        'set-cookie',
        cookies.filter((cookie) => !cookie.startsWith(`${SESSION_COOKIE}=`)),
      );
  });
  const answer = provider.callback();
  const found = new LRUCache<string, { readonly token: IssuedToken; readonly until: number }>({
    max: DEFAULTS.tokens,
  });

  const prepare = (request: IncomingMessage) => {
    for (const name of Object.keys(request.headers))
      if (name.startsWith('x-forwarded-')) delete request.headers[name];
    request.headers['x-forwarded-proto'] = issuer.protocol.slice(0, -1);
    request.headers['x-forwarded-host'] = issuer.host;
    request.headers.host = issuer.host;
  };

  const opened = async (uid: string, request: IncomingMessage, response: ServerResponse) => {
    prepare(request);
    const interaction = await provider.interactionDetails(request, response).catch(() => null);
    const client =
      interaction?.uid === uid ? await provider.Client.find(String(interaction.params.client_id)) : undefined;
    if (interaction && client) return { interaction, client };
    throw new PmlError('not_found', 'This request to connect has expired, or was opened in another browser', {
      hint: 'Start again in the client.',
    });
  };

  const requestOf = async ({ interaction, client }: Awaited<ReturnType<typeof opened>>) => {
    const { redirect_uri, resource, scope: wanted } = interaction.params as Record<string, string>;
    const redirect = new URL(String(redirect_uri));
    return {
      clientId: client.clientId,
      clientName: (client.clientName ?? client.clientId).slice(0, DEFAULTS.name),
      redirectHost: redirect.host || redirect.protocol.slice(0, -1),
      isLocal: isLoopback(redirect),
      resource: String(resource),
      scopes: [
        ...(String(wanted).split(' ').includes(scope) ? [scope] : []),
        // Such a client gets a refresh token, whether or not it names the scope.
        ...(client.grantTypeAllowed('refresh_token') ? [OFFLINE] : []),
      ],
    };
  };

  return {
    async handle(request, response) {
      prepare(request);
      await answer(request, response);
    },

    async find(value) {
      const hash = digest(value);
      const known = found.get(hash);
      if (known && known.until > now()) return known.token;
      found.delete(hash);
      const until = now() + DEFAULTS.trustMs;
      const stored = await provider.AccessToken.find(value);
      if (!stored?.isValid || !stored.clientId || typeof stored.aud !== 'string') return null;
      const token = {
        keyId: keyOf(stored.accountId),
        clientId: stored.clientId,
        scopes: new Set((stored.scope ?? '').split(' ')),
        audience: stored.aud,
      };
      found.set(hash, { token, until });
      return token;
    },

    consent: async (uid, request, response) => await requestOf(await opened(uid, request, response)),

    async decide(uid, request, response, { allowed, by }) {
      const { interaction, client } = await opened(uid, request, response);
      const asked = await requestOf({ interaction, client });
      const isKnown = asked.scopes.includes(scope);
      if (allowed === null || !isKnown) {
        const refused = isKnown
          ? { error: 'access_denied', error_description: 'The request was refused' }
          : { error: 'invalid_scope', error_description: `The scope must be ${scope}` };
        return await provider.interactionResult(request, response, refused);
      }
      const accountId = accountOf(allowed.keyId);
      const grant = new provider.Grant({ accountId, clientId: client.clientId });
      grant.addResourceScope(asked.resource, scope);
      if (asked.scopes.includes(OFFLINE)) grant.addOIDCScope(OFFLINE);
      const grantId = await grant.save();
      const details = {
        client_id: asked.clientId,
        client_name: asked.clientName,
        redirect_host: asked.redirectHost,
        resource: asked.resource,
        scopes: asked.scopes,
        key_id: allowed.keyId,
        user: allowed.user,
      };
      await store.put({
        kind: CONNECTION,
        id: grantId,
        grantId,
        payload: { ...details, connected_at: new Date(now()).toISOString() },
        expiresAt: new Date(now() + DEFAULTS.grantTtl * 1_000),
        consumedAt: null,
      });
      const registered = await store.get('Client', client.clientId);
      if (registered)
        await store.put({ ...registered, expiresAt: new Date(now() + DEFAULTS.grantTtl * 1_000) });
      await options.record('client_connected', { actor: by, subject: grantId, details });
      const result = { login: { accountId, remember: false }, consent: { grantId } };
      return await provider.interactionResult(request, response, result);
    },
  };
}

const OFFLINE = 'offline_access';

/** Nothing is kept of a browser between two authorizations, so this cookie is never set. */
const SESSION_COOKIE = 'pml_oauth_session';

/** A client that names no scope gets the only one there is; of those it names, the ones that exist. */
function knownScopes(given: string | string[] | undefined, scope: string): string | string[] {
  if (typeof given !== 'string') return given ?? scope;
  const known = given.split(' ').filter((name) => name === scope || name === OFFLINE);
  return known.length > 0 ? known.join(' ') : given;
}

/** The library makes secrets for clients that do not say that they need none. */
function withoutSecret(client: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { client_secret: _, client_secret_expires_at: __, ...rest } = client;
  return rest;
}

const OWNER = 'owner';
const accountOf = (keyId: string | null) => (keyId === null ? OWNER : `key:${keyId}`);
const keyOf = (accountId: string) => (accountId === OWNER ? null : accountId.slice('key:'.length));

function isLoopback({ hostname }: URL): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

function configurationOf(options: AuthorizationServerOptions): Configuration {
  const { paths, scope } = options;
  // The library wants a key for identity tokens, which are never issued here.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' };
  return {
    adapter: adapters(options),
    jwks: { keys: [key as never] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    claims: {},
    scopes: [OFFLINE],
    responseTypes: ['code'],
    // Clients are public: no secret of theirs is kept, and PKCE binds a code to who asked for it.
    clientAuthMethods: ['none'],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: () => false,
    expiresWithSession: async () => false,
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    revokeGrantPolicy: () => true,
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : await oidc.provider.Grant.find(grantId);
    },
    async findAccount(_context, accountId) {
      const keyId = keyOf(accountId);
      if (keyId !== null && !(await options.isActive(keyId))) return undefined;
      return { accountId, claims: async () => ({ sub: accountId }) };
    },
    extraClientMetadata: {
      properties: [REDIRECTS],
      validator(_context, _name, _value, metadata) {
        // Scopes are allowed by a person, whichever a client registers.
        delete metadata.scope;
        checkRedirects(metadata.redirect_uris);
      },
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_context, client, token) => token.clientId === client.clientId,
      },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        cacheDuration: { min: 60, max: HOUR },
        allowFetch: async () => options.mayFetch(),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async (_context, _client, oneOf) => {
          if (typeof oneOf === 'string') return oneOf;
          throw new InvalidTarget('resource must name the one endpoint to use');
        },
        useGrantedResource: async () => true,
        async getResourceServerInfo({ oidc }, resource) {
          // A person is asked about one endpoint at a time.
          if (Array.isArray(oidc.params?.resource) || !options.isResource(resource))
            throw new InvalidTarget();
          return {
            scope,
            audience: resource,
            accessTokenFormat: 'opaque',
            accessTokenTTL: DEFAULTS.accessTtl,
          };
        },
      },
    },
    ttl: {
      AccessToken: DEFAULTS.accessTtl,
      AuthorizationCode: DEFAULTS.codeTtl,
      Grant: DEFAULTS.grantTtl,
      IdToken: DEFAULTS.codeTtl,
      Interaction: DEFAULTS.consentTtl,
      RefreshToken: DEFAULTS.refreshTtl,
      Session: DEFAULTS.consentTtl,
    },
    cookies: {
      names: { session: SESSION_COOKIE, interaction: 'pml_oauth', resume: 'pml_oauth_resume' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    routes: {
      authorization: paths.authorize,
      token: paths.token,
      registration: paths.register,
      revocation: paths.revoke,
      jwks: paths.jwks,
    },
    interactions: { url: (_context, { uid }) => `${paths.consent}/${uid}` },
    fetch: options.fetch,
    fetchResponseBodyLimits: { 'client_id metadata document': 16 * 1024, sector_identifier_uri: 16 * 1024 },
    renderError(context, { error, error_description: why }) {
      context.type = 'text/plain';
      context.body = `${error}${why === undefined ? '' : `: ${why}`}\n`;
    },
  };
}

/** A made-up property: the library calls its check with all that a client says of itself. */
const REDIRECTS = 'pml_redirects';

/** A code that travels over plain http can be read on its way, except on the person's own machine. */
function checkRedirects(uris: unknown): void {
  for (const uri of Array.isArray(uris) ? uris : []) {
    const redirect = URL.canParse(uri) ? new URL(uri) : null;
    const isOpen = redirect?.protocol === 'http:' && !isLoopback(redirect);
    if (!redirect || isOpen || redirect.username !== '' || redirect.password !== '')
      throw new InvalidClientMetadata('redirect_uris must be https, or http on the loopback address');
  }
}

function digest(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

/** The library's records in our store. Codes and tokens are stored as hashes, and used up by one request alone. */
function adapters({ store, now }: AuthorizationServerOptions): (kind: string) => Adapter {
  let swept = 0;
  const sweep = async () => {
    if (now() - swept < DEFAULTS.sweepMs) return;
    swept = now();
    await store.sweep(new Date(now()));
  };
  return (kind) => adapterFor(kind, store, now, sweep);
}

function adapterFor(kind: string, store: OAuthStore, now: () => number, sweep: () => Promise<void>): Adapter {
  const idOf = (id: string) => (SECRET.has(kind) ? digest(id) : id);
  return {
    async upsert(id, payload, expiresIn) {
      if (kind === FORGOTTEN) return;
      await sweep();
      if (kind === 'Client') await makeRoom(store, now());
      const { jti: _, ...all } = payload;
      const kept = kind === 'Client' ? withoutSecret(all) : all;
      const before = SECRET.has(kind) ? await store.get(kind, idOf(id)) : null;
      await store.put({
        kind,
        id: idOf(id),
        grantId: kind === 'Grant' ? id : (payload.grantId ?? null),
        payload: kept,
        expiresAt: new Date(now() + (expiresIn ?? DEFAULTS.strangerTtl) * 1_000),
        consumedAt: before?.consumedAt ?? null,
      });
    },
    async find(id) {
      const found = kind === FORGOTTEN ? null : await store.get(kind, idOf(id));
      if (!found || found.expiresAt.getTime() <= now()) return undefined;
      const { payload, consumedAt } = found;
      const consumed = consumedAt && { consumed: Math.floor(consumedAt.getTime() / 1_000) };
      const jti = kind === 'Client' ? {} : { jti: id };
      return { ...payload, ...jti, ...consumed } as AdapterPayload;
    },
    async consume(id) {
      if (await store.consume(kind, idOf(id), new Date(now()))) return;
      throw new InvalidGrant('it was used by another request at the same time');
    },
    destroy: async (id) => await store.remove(kind, idOf(id)),
    revokeByGrantId: async (grantId) => void (await store.removeGrant(grantId)),
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  };
}

/** Anybody may register, so those who were never allowed anything make room for each other. */
async function makeRoom(store: OAuthStore, now: number): Promise<void> {
  const strangers = (await store.list('Client')).filter(
    ({ expiresAt }) => expiresAt.getTime() <= now + DEFAULTS.strangerTtl * 1_000,
  );
  for (const { id } of strangers.slice(0, Math.max(0, strangers.length - DEFAULTS.strangers + 1)))
    await store.remove('Client', id);
}
