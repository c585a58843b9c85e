import { createHash, randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { KeyRole } from '../../src/core/vocabulary/principal.ts';
import { createKeyRing } from '../../src/engine/people/key-ring.ts';
import type { OAuthSettings, ServerSettings, Store } from '../../src/engine/ports.ts';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import { createApp } from '../../src/surfaces/http/create-app.ts';
import { createAccess, hostsOf } from '../../src/surfaces/http/guard.ts';
import { listen } from '../../src/surfaces/http/listen.ts';
import { createInboundOAuth } from '../../src/surfaces/http/oauth/inbound-oauth.ts';
import { createMcpEndpoints } from '../../src/surfaces/mcp/create-mcp-endpoints.ts';
import { openUpstream } from '../contracts/upstream-support.ts';
import { OWNER_TOKEN } from './http-gateway.ts';
import { testGateway, tool } from './test-gateway.ts';

export const REDIRECT = 'https://client.example/callback';

export interface OAuthGatewayOptions {
  readonly issuer?: OAuthSettings['issuer'];
  /** Off: as without `pml.http.oauth`. */
  readonly isOff?: boolean;
  /** Gets client-id metadata documents. */
  readonly fetch?: typeof fetch;
  /** Goes on with what an earlier gateway stored. */
  readonly store?: Store;
  readonly port?: number;
  /** Real servers instead of those in memory. */
  readonly servers?: readonly ServerSettings[];
}

/** The real engine behind the real HTTP surface, with OAuth: servers `desk` and `shed` with an `echo` each. */
export async function oauthGateway(options: OAuthGatewayOptions = {}) {
  const echo = (name: string) => ({ name, tools: [tool('echo', (args) => args)] });
  const { gateway, store } = await testGateway({
    ...(options.servers ? realServers(options.servers) : { servers: [echo('desk'), echo('shed')] }),
    ...(options.store && { store: options.store }),
  });
  const logger = { log: () => {} };
  const keys = createKeyRing(gateway.store, { now: () => new Date(), monotonic: () => performance.now() });
  gateway.events.follow(({ event }) => event.type === 'key_changed' && keys.forget());
  const access = createAccess(OWNER_TOKEN, { keys });
  const mcp = createMcpEndpoints(gateway, { version: '0.0.0', logger });
  let passed = 0;
  let url = '';
  const settings = () => {
    const current = gateway.settings();
    if (options.isOff) return current;
    const oauth = { url, ...(options.issuer && { issuer: options.issuer }) };
    return { ...current, http: { ...current.http, oauth } };
  };
  const seen = { settings, store: gateway.store, people: gateway.people };
  let port = 0;
  const app = createApp({
    access,
    allowedHosts: () => hostsOf('127.0.0.1', port),
    answerCall: async () => null,
    logger,
    now: () => performance.now(),
    about: () => ({}),
    mcp,
    api: createApi(gateway, logger),
    oauth: createInboundOAuth({
      gateway: seen,
      access,
      keys,
      logger,
      ...(options.fetch && { fetch: options.fetch }),
      now: () => Date.now() + passed,
    }),
  });
  const listener = await listen(app, '127.0.0.1', options.port ?? 0);
  ({ url, port } = listener);
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await listener.close();
    await mcp.close();
  };
  onTestFinished(close);

  const keyFor = async (role: KeyRole, name: string) =>
    await gateway.people.createKey({ name, role, by: 'test' });
  /** A browser in which somebody is logged in: with a key, or as the owner. */
  const browser = async (secret?: string): Promise<Browser> => {
    const session =
      secret === undefined
        ? await access.redeemLoginCode(access.createLoginCode())
        : await access.sessionFor(secret);
    return createBrowser(url, session?.secret);
  };
  return {
    url,
    port,
    gateway,
    store,
    access,
    keyFor,
    browser,
    stranger: createBrowser(url),
    /** For a second a token that was seen is not looked up again. */
    passASecond: () => {
      passed += 1_001;
    },
    close,
  };
}

function realServers(servers: readonly ServerSettings[]) {
  const { upstream, dispose } = openUpstream(servers);
  onTestFinished(dispose);
  const offered = servers.map((server) => ({ ...server, tools: { include: ['*'], exclude: [] } }));
  return { upstream, settings: { servers: offered } };
}

export type OAuthGateway = Awaited<ReturnType<typeof oauthGateway>>;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the answer can be anything
  readonly body: any;
}

export interface Browser {
  /** Follows nothing; keeps cookies, by path. */
  get(address: string, headers?: Record<string, string>): Promise<Response>;
  post(address: string, form: URLSearchParams): Promise<Response>;
  /** What the consent page would show. */
  asked(consent: string): Promise<Answer>;
  decide(
    consent: string,
    decision: { allow: boolean; key_id?: string | null },
    headers?: Record<string, string>,
  ): Promise<Answer>;
  readonly cookies: ReadonlyMap<string, { path: string; value: string }>;
}

/** Keeps cookies and follows nothing, like a browser that is watched step by step. */
export function createBrowser(url: string, session?: string): Browser {
  const cookies = new Map<string, { path: string; value: string }>();
  const send = async (address: string, init: RequestInit = {}) => {
    const to = new URL(address, url);
    const cookie = [...cookies]
      .filter(([, { path }]) => `${to.pathname}/`.startsWith(path === '/' ? path : `${path}/`))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
    const reply = await fetch(to, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, { value, path: /path=([^;]+)/i.exec(line)?.[1] ?? '/' });
    }
    return reply;
  };
  const authorization: Record<string, string> =
    session === undefined ? {} : { authorization: `Bearer ${session}` };
  const answer = async (reply: Response) => ({
    status: reply.status,
    body: await reply.json().catch(() => null),
  });
  return {
    cookies,
    get: (address, headers = {}) => send(address, { headers }),
    post: (address, form) => send(address, { method: 'POST', body: form }),
    asked: async (consent) => await answer(await send(`${consent}/decision`, { headers: authorization })),
    decide: async (consent, decision, headers = {}) =>
      await answer(
        await send(`${consent}/decision`, {
          method: 'POST',
          headers: { ...authorization, 'content-type': 'application/json', ...headers },
          body: JSON.stringify(decision),
        }),
      ),
  };
}

export interface Pkce {
  readonly verifier: string;
  readonly challenge: string;
}

export function pkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** A hosted client, step by step. */
export function hostedClient(url: string) {
  const post = async (path: string, body: URLSearchParams | string): Promise<Answer> => {
    const type = typeof body === 'string' ? 'application/json' : 'application/x-www-form-urlencoded';
    const reply = await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': type }, body });
    const text = await reply.text();
    return { status: reply.status, body: text === '' ? null : JSON.parse(text) };
  };
  return {
    register: (metadata: Record<string, unknown> = {}) =>
      post(
        '/oauth/register',
        JSON.stringify({ redirect_uris: [REDIRECT], client_name: 'Claude', ...metadata }),
      ),
    token: (fields: Record<string, string>) => post('/oauth/token', new URLSearchParams(fields)),
    revoke: (fields: Record<string, string>) => post('/oauth/revoke', new URLSearchParams(fields)),
    authorizeUrl: (fields: Record<string, string>) =>
      `${url}/oauth/authorize?${new URLSearchParams({
        response_type: 'code',
        redirect_uri: REDIRECT,
        code_challenge_method: 'S256',
        scope: 'pml:run',
        state: 'xyz',
        resource: `${url}/mcp`,
        ...fields,
      })}`,
  };
}

/** From registration to the code, for the person in this browser. */
export async function connect(
  { url }: Pick<OAuthGateway, 'url'>,
  browser: Browser,
  over: { clientId?: string; resource?: string; scope?: string; keyId?: string | null } = {},
) {
  const client = hostedClient(url);
  const clientId = over.clientId ?? ((await client.register()).body.client_id as string);
  const secret = pkce();
  const resource = over.resource ?? `${url}/mcp`;
  const started = await browser.get(
    client.authorizeUrl({
      client_id: clientId,
      code_challenge: secret.challenge,
      resource,
      ...(over.scope !== undefined && { scope: over.scope }),
    }),
  );
  const consent = String(started.headers.get('location'));
  const { body } = await browser.decide(consent, {
    allow: true,
    ...(over.keyId !== undefined && { key_id: over.keyId }),
  });
  const resumed = await browser.get(String(body.location));
  const back = new URL(String(resumed.headers.get('location')), url);
  const exchange = (changed: Record<string, string> = {}) =>
    client.token({
      grant_type: 'authorization_code',
      client_id: clientId,
      code: String(back.searchParams.get('code')),
      redirect_uri: REDIRECT,
      code_verifier: secret.verifier,
      resource,
      ...changed,
    });
  return { client, clientId, secret, consent, back, exchange };
}

/** What an MCP endpoint says to a request with this token. */
export async function call(url: string, token: string | undefined, path = '/mcp') {
  return await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }),
  });
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'hosted', version: '1' },
};
