import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import {
  call,
  connect,
  hostedClient,
  type OAuthGateway,
  oauthGateway,
  pkce,
  REDIRECT,
} from '../support/oauth-gateway.ts';

const ENDPOINTS = ['/mcp', '/mcp/all', '/mcp/servers/desk'];

/** A connected client's tokens. */
async function tokensOf(gateway: OAuthGateway, over: Parameters<typeof connect>[2] = {}) {
  const connected = await connect(gateway, await gateway.browser(), over);
  const { body } = await connected.exchange();
  return { ...connected, access: String(body.access_token), refresh: String(body.refresh_token) };
}

test('[OAUTH-1] without the setting there is no OAuth', async () => {
  const gateway = await oauthGateway({ isOff: true });
  const { url } = gateway;
  for (const path of [
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
    '/oauth/authorize',
    '/oauth/jwks',
    '/oauth/consent/x/decision',
  ])
    expect((await fetch(`${url}${path}`)).status, path).toBe(401);
  expect((await hostedClient(url).register()).status).toBe(401);
  const refused = await call(url, 'made-up');
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, null]);
});

test('[OAUTH-2] a refusal links the endpoint to its metadata and to the authorization server', async () => {
  const { url } = await oauthGateway();
  for (const path of ENDPOINTS) {
    for (const token of [undefined, 'made-up']) {
      const refused = await call(url, token, path);
      expect(refused.status).toBe(401);
      const challenge = String(refused.headers.get('www-authenticate'));
      expect(challenge).toMatch(/^Bearer .*scope="pml:run"/);
      const address = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
      expect(address).toBe(`${url}/.well-known/oauth-protected-resource${path}`);
      expect(await (await fetch(String(address))).json()).toMatchObject({
        resource: `${url}${path}`,
        authorization_servers: [url],
        scopes_supported: ['pml:run'],
      });
    }
  }
  for (let i = 0; i < 40; i++) await call(url, `guess-${i}`);
  expect((await call(url, 'guess')).status).toBe(429);
  expect((await call(url, undefined)).headers.get('www-authenticate')).toContain('resource_metadata');
  expect((await fetch(`${url}/api/me`)).headers.get('www-authenticate')).toBeNull();
  expect((await fetch(`${url}/.well-known/oauth-protected-resource/api`)).status).toBe(429);
});

test('[OAUTH-3] the metadata says what the built-in server offers, and no more', async () => {
  const { url } = await oauthGateway();
  const metadata = await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json();
  expect(metadata).toMatchObject({
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    registration_endpoint: `${url}/oauth/register`,
    revocation_endpoint: `${url}/oauth/revoke`,
    code_challenge_methods_supported: ['S256'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    response_types_supported: ['code'],
    token_endpoint_auth_methods_supported: ['none'],
    scopes_supported: ['pml:run', 'offline_access'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  });
  expect(metadata).not.toHaveProperty('userinfo_endpoint');
  expect(metadata).not.toHaveProperty('introspection_endpoint');
});

test('[OAUTH-5] a person sees which client asks for what, and nobody else is asked', async () => {
  const gateway = await oauthGateway();
  const client = hostedClient(gateway.url);
  const { body: registered } = await client.register({ client_name: 'Claude' });
  const start = client.authorizeUrl({
    client_id: registered.client_id,
    code_challenge: pkce().challenge,
    scope: 'pml:run offline_access',
    prompt: 'consent',
  });
  const owner = await gateway.browser();
  const consent = String((await owner.get(start)).headers.get('location'));
  expect(await owner.asked(consent)).toMatchObject({
    status: 200,
    body: {
      client_name: 'Claude',
      redirect_host: 'client.example',
      is_local: false,
      resource: `${gateway.url}/mcp`,
      scopes: ['pml:run', 'offline_access'],
      actors: [{ key_id: null, user: 'owner' }],
    },
  });
  // Another browser does not have the request, whoever is logged in there.
  expect((await (await gateway.browser()).asked(consent)).status).toBe(404);
  // In the right browser, but nobody is logged in, or only a program with a key.
  const stranger = gateway.stranger;
  const own = String((await stranger.get(start)).headers.get('location'));
  expect((await stranger.asked(own)).status).toBe(401);
  expect((await stranger.decide(own, { allow: true })).status).toBe(401);
  const { secret } = await gateway.keyFor('agent', 'robot');
  const asProgram = { authorization: `Bearer ${secret}` };
  expect((await stranger.decide(own, { allow: true }, asProgram)).status).toBe(401);
  // A page of another origin cannot press the button.
  const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  expect((await owner.decide(consent, { allow: true }, elsewhere)).status).toBe(403);
  // The client learns of a refusal.
  const { body } = await owner.decide(consent, { allow: false });
  const back = new URL(String((await owner.get(body.location)).headers.get('location')));
  expect(back.origin + back.pathname).toBe(REDIRECT);
  expect(back.searchParams.get('error')).toBe('access_denied');
  expect(back.searchParams.get('iss')).toBe(gateway.url);
});

test('[OAUTH-5] authorization is asked for each time, whatever cookies the browser has', async () => {
  const gateway = await oauthGateway();
  const browser = await gateway.browser();
  const first = await connect(gateway, browser);
  expect((await first.exchange()).status).toBe(200);
  const again = first.client.authorizeUrl({
    client_id: first.clientId,
    code_challenge: pkce().challenge,
  });
  const second = await browser.get(again);
  expect(second.headers.get('location')).toMatch(/^\/oauth\/consent\//);
  expect([...browser.cookies.keys()]).not.toContain('pml_oauth_session');
  const silent = await browser.get(`${again}&prompt=none`);
  expect(new URL(String(silent.headers.get('location'))).searchParams.get('error')).toBe('login_required');
  // Going on without an answer asks again.
  const consent = String(second.headers.get('location'));
  const skipped = await browser.get(consent.replace('/consent/', '/authorize/'));
  expect(String(skipped.headers.get('location'))).not.toContain('code=');
});

test('[OAUTH-6] a client acts with the key of its person, as an agent, while the key is active', async () => {
  const gateway = await oauthGateway();
  const { url } = gateway;
  const { key, secret } = await gateway.keyFor('operator', 'ada');
  const connected = await connect(gateway, await gateway.browser(secret), { keyId: key.id });
  const { body } = await connected.exchange();
  const client = new Client({ name: 'hosted', version: '1' });
  const headers = { authorization: `Bearer ${body.access_token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  await client.callTool({
    name: 'pml_execute',
    arguments: { tool: 'desk:echo', arguments: { text: 'hi' }, intent: 'say hi' },
  });
  await client.close();
  await gateway.gateway.settled();
  const [trace] = await gateway.store.traces.list({ limit: 1 });
  expect(trace).toMatchObject({ owner: 'ada', success: true });
  await gateway.gateway.people.revokeKey('ada', 'test');
  expect((await call(url, body.access_token)).status).toBe(401);
  const late = await connected.client.token({
    grant_type: 'refresh_token',
    client_id: connected.clientId,
    refresh_token: body.refresh_token,
  });
  expect(late).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
});

test('[OAUTH-6] a viewer cannot connect a client, and only the owner lends the key of another person', async () => {
  const gateway = await oauthGateway();
  const { key: other } = await gateway.keyFor('agent', 'bob');
  const { secret } = await gateway.keyFor('viewer', 'eve');
  const { key: own, secret: agent } = await gateway.keyFor('agent', 'ada');
  const client = hostedClient(gateway.url);
  const { body: registered } = await client.register();
  const start = () =>
    client.authorizeUrl({ client_id: registered.client_id, code_challenge: pkce().challenge });
  const viewer = await gateway.browser(secret);
  const first = String((await viewer.get(start())).headers.get('location'));
  expect((await viewer.asked(first)).status).toBe(403);
  expect((await viewer.decide(first, { allow: true })).status).toBe(403);
  const ada = await gateway.browser(agent);
  const second = String((await ada.get(start())).headers.get('location'));
  expect((await ada.asked(second)).body.actors).toEqual([{ name: 'ada', key_id: own.id, user: 'ada' }]);
  for (const key_id of [other.id, null])
    expect((await ada.decide(second, { allow: true, key_id })).status).toBe(403);
  const lent = await connect(gateway, await gateway.browser(), { keyId: other.id });
  expect((await call(gateway.url, (await lent.exchange()).body.access_token)).status).toBe(200);
  const [entry] = await gateway.store.audit.list({ limit: 1, action: 'client_connected' });
  expect(entry).toMatchObject({ actor: 'dashboard', details: { user: 'bob', client_name: 'Claude' } });
});

test('[OAUTH-8] a refresh replaces its token, and reusing the old one ends the connection', async () => {
  const gateway = await oauthGateway();
  const { client, clientId: client_id, access, refresh } = await tokensOf(gateway);
  const next = (refresh_token: string) =>
    client.token({ grant_type: 'refresh_token', client_id, refresh_token });
  const second = await next(refresh);
  expect(second.status).toBe(200);
  expect(second.body.refresh_token).not.toBe(refresh);
  const live = async () => [
    (await call(gateway.url, access)).status,
    (await call(gateway.url, second.body.access_token)).status,
  ];
  expect(await live()).toEqual([200, 200]);
  expect((await next(refresh)).body.error).toBe('invalid_grant');
  gateway.passASecond();
  expect(await live()).toEqual([401, 401]);
  expect((await next(second.body.refresh_token)).body.error).toBe('invalid_grant');
  expect(await gateway.store.audit.list({ limit: 9, action: 'client_disconnected' })).toHaveLength(1);
});

test('[OAUTH-8] of many parallel uses of a code or refresh token, at most one succeeds', async () => {
  const gateway = await oauthGateway();
  const connected = await connect(gateway, await gateway.browser());
  const codes = await Promise.all(Array.from({ length: 8 }, () => connected.exchange()));
  expect(codes.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  const { client, clientId: client_id, refresh: refresh_token } = await tokensOf(gateway);
  const refreshed = await Promise.all(
    Array.from({ length: 8 }, () => client.token({ grant_type: 'refresh_token', client_id, refresh_token })),
  );
  expect(refreshed.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
});

test('[OAUTH-9] grants survive a restart, and no code, token or secret is stored', async () => {
  // The next one needs the same port.
  const before = await oauthGateway({ port: await freePort() });
  const { client, clientId: client_id, access, refresh, back } = await tokensOf(before);
  const kinds = ['Client', 'Grant', 'Connection', 'AccessToken', 'RefreshToken', 'AuthorizationCode'];
  const stored: string = JSON.stringify(
    await Promise.all(kinds.map((kind) => before.store.oauth.list(kind))),
  );
  expect(stored).toContain(client_id);
  for (const secret of [access, refresh, back.searchParams.get('code')!, 'client_secret'])
    expect(stored).not.toContain(secret);
  await before.close();
  const after = await oauthGateway({ store: before.store, port: before.port });
  // The first request may meet a connection that the old gateway closed.
  await expect.poll(async () => (await call(after.url, access).catch(() => null))?.status).toBe(200);
  const next = await client.token({ grant_type: 'refresh_token', client_id, refresh_token: refresh });
  expect((await call(after.url, next.body.access_token)).status).toBe(200);
});

test('[OAUTH-17] registrations without a grant displace each other, and too many are refused', async () => {
  const gateway = await oauthGateway();
  const { clientId } = await tokensOf(gateway);
  const client = hostedClient(gateway.url);
  const old = Array.from({ length: 520 }, (_, i) => ({
    kind: 'Client',
    id: `stranger-${i}`,
    grantId: null,
    payload: { client_id: `stranger-${i}`, redirect_uris: [REDIRECT] },
    expiresAt: new Date(Date.now() + 3_600_000),
    consumedAt: null,
  }));
  for (const record of old) await gateway.store.oauth.put(record);
  expect((await client.register()).status).toBe(201);
  const kept = await gateway.store.oauth.list('Client');
  expect(kept.length).toBeLessThanOrEqual(501);
  expect(kept.some(({ id }) => id === clientId)).toBe(true);
  const many = await Promise.all(Array.from({ length: 130 }, () => client.register()));
  // Which of them come last is up to the network.
  const refused = many.find(({ status }) => status !== 201);
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } });
});

test('[OAUTH-18] connections are listed for their person and for operators, and end when revoked', async () => {
  const gateway = await oauthGateway();
  const { key, secret } = await gateway.keyFor('agent', 'ada');
  const { secret: bob } = await gateway.keyFor('agent', 'bob');
  const { secret: boss } = await gateway.keyFor('operator', 'boss');
  const connected = await connect(gateway, await gateway.browser(secret), { keyId: key.id });
  const { body } = await connected.exchange();
  const api = async (token: string, path: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const reply = await fetch(`${gateway.url}/api${path}`, { method, headers });
    return { status: reply.status, body: (await reply.json()) as { connections: { id: string }[] } };
  };
  const list = async (token: string) => (await api(token, '/connections')).body.connections;
  expect(await list(secret)).toMatchObject([
    { client_name: 'Claude', user: 'ada', resource: `${gateway.url}/mcp`, redirect_host: 'client.example' },
  ]);
  expect(await list(bob)).toEqual([]);
  const id = String((await list(boss))[0]?.id);
  expect((await api(bob, `/connections/${id}/revoke`, 'POST')).status).toBe(404);
  expect((await call(gateway.url, body.access_token)).status).toBe(200);
  expect((await api(secret, `/connections/${id}/revoke`, 'POST')).status).toBe(200);
  gateway.passASecond();
  expect((await call(gateway.url, body.access_token)).status).toBe(401);
  expect(await list(boss)).toEqual([]);
  const entries = await gateway.store.audit.list({ limit: 9, subject: id });
  expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
    ['client_disconnected', 'ada'],
    ['client_connected', 'ada'],
  ]);
});
