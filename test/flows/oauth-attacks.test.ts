import { type AddressInfo, createServer } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { httpServer } from '../contracts/upstream-support.ts';
import { startHttpFixture } from '../fixtures/servers/http-server.ts';
import {
  call,
  connect,
  hostedClient,
  type OAuthGateway,
  oauthGateway,
  pkce,
  REDIRECT,
} from '../support/oauth-gateway.ts';

async function tokensOf(gateway: OAuthGateway, over: Parameters<typeof connect>[2] = {}) {
  const connected = await connect(gateway, await gateway.browser(), over);
  const { body } = await connected.exchange();
  return { ...connected, access: String(body.access_token), refresh: String(body.refresh_token) };
}

test('[OAUTH-7] a token opens its one endpoint and nothing else', async () => {
  const gateway = await oauthGateway();
  const { url } = gateway;
  const paths = ['/mcp', '/mcp/all', '/mcp/servers/desk', '/mcp/servers/shed'];
  for (const own of ['/mcp/servers/desk', '/mcp']) {
    const { access } = await tokensOf(gateway, { resource: `${url}${own}` });
    const statuses = await Promise.all(paths.map(async (path) => (await call(url, access, path)).status));
    expect(statuses).toEqual(paths.map((path) => (path === own ? 200 : 401)));
    const headers = { authorization: `Bearer ${access}` };
    for (const path of ['/api/me', '/api/runs', '/metrics', '/api/connections', '/api/openapi.json'])
      expect((await fetch(`${url}${path}`, { headers })).status, path).toBe(401);
    const bridged = await fetch(`${url}/bridge`, { method: 'POST', headers, body: '{}' });
    expect(bridged.status).toBe(401);
  }
});

test('[OAUTH-7] a client cannot extend its access: its token is not a login', async () => {
  const gateway = await oauthGateway();
  const { access, client, clientId } = await tokensOf(gateway);
  const headers = { authorization: `Bearer ${access}` };
  const start = client.authorizeUrl({ client_id: clientId, code_challenge: pkce().challenge });
  const consent = String((await gateway.stranger.get(start)).headers.get('location'));
  expect((await gateway.stranger.decide(consent, { allow: true }, headers)).status).toBe(401);
  const form = new URLSearchParams({ key: access });
  expect((await fetch(`${gateway.url}/login`, { method: 'POST', body: form })).status).toBe(403);
});

test('[OAUTH-7] [OAUTH-6] sessions of a client are separate from those of its key', async () => {
  const gateway = await oauthGateway();
  const { key, secret } = await gateway.keyFor('agent', 'ada');
  const browser = await gateway.browser(secret);
  const { body } = await (await connect(gateway, browser, { keyId: key.id })).exchange();
  const opened = await call(gateway.url, secret);
  const session = String(opened.headers.get('mcp-session-id'));
  const list = async (token: string) => {
    const reply = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session,
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }),
    });
    return reply.status;
  };
  expect([await list(secret), await list(body.access_token)]).toEqual([200, 404]);
});

test('[OAUTH-8] reusing a code revokes what it was exchanged for', async () => {
  const gateway = await oauthGateway();
  const connected = await connect(gateway, await gateway.browser());
  const { body } = await connected.exchange();
  expect((await call(gateway.url, body.access_token)).status).toBe(200);
  expect((await connected.exchange()).body.error).toBe('invalid_grant');
  gateway.passASecond();
  expect((await call(gateway.url, body.access_token)).status).toBe(401);
});

test('[OAUTH-10] no code goes to an address that is not registered exactly', async () => {
  const gateway = await oauthGateway();
  const client = hostedClient(gateway.url);
  const { client_id } = (await client.register()).body;
  const browser = await gateway.browser();
  for (const redirect_uri of [
    'https://evil.example/callback',
    `${REDIRECT}/`,
    `${REDIRECT}/../evil`,
    `${REDIRECT}?next=https://evil.example`,
    `${REDIRECT}#x`,
    'https://client.example.evil.example/callback',
    'https://client.example@evil.example/callback',
    'https://client.example:8443/callback',
    'http://client.example/callback',
    'HTTPS://CLIENT.EXAMPLE/callback',
    'https://client.example/%63allback',
    'javascript:alert(1)',
    '//evil.example/callback',
    '',
  ]) {
    const address = client.authorizeUrl({ client_id, code_challenge: pkce().challenge, redirect_uri });
    const reply = await browser.get(address);
    expect([redirect_uri, reply.status, reply.headers.get('location')]).toEqual([redirect_uri, 400, null]);
    expect(reply.headers.get('content-type')).toContain('text/plain');
    expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
  }
  const both = `${client.authorizeUrl({ client_id, code_challenge: pkce().challenge })}&redirect_uri=https://evil.example/`;
  expect((await browser.get(both)).headers.get('location')).toBeNull();
});

test('[OAUTH-10] an address that would leak codes cannot be registered', async () => {
  const { url } = await oauthGateway();
  const client = hostedClient(url);
  for (const uri of [
    'http://client.example/callback',
    'http://127.0.0.1.evil.example/callback',
    'https://user@client.example/callback',
    'https://client.example/callback#fragment',
    'javascript:alert(1)',
    'data:text/html,x',
    'not an address',
  ]) {
    for (const application_type of ['web', 'native']) {
      const { status, body } = await client.register({ redirect_uris: [uri], application_type });
      expect([uri, status]).toEqual([uri, 400]);
      expect(body.error).toMatch(/^invalid_(client_metadata|redirect_uri)$/);
    }
  }
  expect((await client.register({ redirect_uris: ['http://127.0.0.1:4711/callback'] })).status).toBe(201);
  expect((await client.register({ redirect_uris: [] })).status).toBe(400);
  expect((await client.register({ response_types: ['token'], grant_types: ['implicit'] })).status).toBe(400);
  expect((await client.register({ grant_types: ['client_credentials'] })).status).toBe(400);
  expect((await client.register({ token_endpoint_auth_method: 'client_secret_post' })).status).toBe(400);
});

test('[OAUTH-11] a code is useless to another client, at another address, or without its verifier', async () => {
  const gateway = await oauthGateway();
  const attacker = (await hostedClient(gateway.url).register({ client_name: 'Evil' })).body.client_id;
  for (const changed of [
    { client_id: attacker },
    { redirect_uri: 'https://client.example/other' },
    { code_verifier: pkce().verifier },
    { code_verifier: '' },
    { resource: `${gateway.url}/mcp/all` },
  ]) {
    const connected = await connect(gateway, await gateway.browser());
    const { status, body } = await connected.exchange(changed);
    expect([changed, status]).toEqual([changed, 400]);
    expect(body).not.toHaveProperty('access_token');
  }
});

test('[OAUTH-11] a code of the attacker is useless in the session of a victim, whose verifier differs', async () => {
  const gateway = await oauthGateway();
  const { clientId } = await connect(gateway, await gateway.browser());
  const attacker = await connect(gateway, await gateway.browser(), { clientId });
  const victim = await connect(gateway, await gateway.browser(), { clientId });
  const injected = await victim.exchange({ code: String(attacker.back.searchParams.get('code')) });
  expect(injected).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
});

test('[OAUTH-11] there is no authorization without PKCE by S256', async () => {
  const gateway = await oauthGateway();
  const client = hostedClient(gateway.url);
  const { client_id } = (await client.register()).body;
  const browser = await gateway.browser();
  const { challenge, verifier } = pkce();
  for (const fields of [
    { code_challenge: '', code_challenge_method: '' },
    { code_challenge: verifier, code_challenge_method: 'plain' },
    { code_challenge: challenge, code_challenge_method: 'S512' },
    { code_challenge: 'short' },
    { code_challenge: challenge, response_type: 'token' },
    { code_challenge: challenge, response_type: 'code id_token' },
  ]) {
    const reply = await browser.get(client.authorizeUrl({ client_id, ...fields }));
    const location = String(reply.headers.get('location'));
    expect(location).not.toContain('/oauth/consent/');
    expect(location).toContain('error=');
  }
});

test('[OAUTH-12] answers name their issuer, so that a client with several servers cannot mix them up', async () => {
  const gateway = await oauthGateway();
  const { back } = await connect(gateway, await gateway.browser());
  expect(back.searchParams.get('iss')).toBe(gateway.url);
  expect(back.searchParams.get('state')).toBe('xyz');
  const client = hostedClient(gateway.url);
  const { client_id } = (await client.register()).body;
  const wrong = client.authorizeUrl({
    client_id,
    code_challenge: pkce().challenge,
    resource: 'https://other.example/mcp',
  });
  const refused = new URL(String((await (await gateway.browser()).get(wrong)).headers.get('location')));
  expect(refused.searchParams.get('error')).toBe('invalid_target');
  expect(refused.searchParams.get('iss')).toBe(gateway.url);
});

test('[OAUTH-12] [OAUTH-2] no header of a request changes the addresses that answers name', async () => {
  const gateway = await oauthGateway();
  const forged = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
  };
  const reply = await fetch(`${gateway.url}/.well-known/oauth-authorization-server`, { headers: forged });
  expect(JSON.stringify(await reply.json())).not.toContain('evil.example');
  const refused = await fetch(`${gateway.url}/mcp`, { method: 'POST', headers: forged });
  expect(refused.headers.get('www-authenticate')).not.toContain('evil.example');
});

test('[OAUTH-13] no request extends what a person allowed', async () => {
  const gateway = await oauthGateway();
  const { url } = gateway;
  const own = `${url}/mcp/servers/desk`;
  const { client, clientId: client_id, refresh: refresh_token } = await tokensOf(gateway, { resource: own });
  const refreshed = (fields: Record<string, string>) =>
    client.token({ grant_type: 'refresh_token', client_id, refresh_token, ...fields });
  expect((await refreshed({ scope: 'pml:run pml:manage' })).body.error).toBe('invalid_scope');
  expect((await refreshed({ scope: 'openid' })).body.error).toBe('invalid_scope');
  const { body } = await refreshed({});
  expect(body.scope).toBe('pml:run');
  expect((await call(url, body.access_token, '/mcp')).status).toBe(401);
  expect((await call(url, body.access_token, '/mcp/servers/desk')).status).toBe(200);
  const other = await refreshed({ refresh_token: body.refresh_token, resource: `${url}/mcp` });
  expect(other.body.error).toBe('invalid_target');
});

test('[OAUTH-13] unknown scopes and resources cannot be requested', async () => {
  const gateway = await oauthGateway();
  const { url } = gateway;
  const browser = await gateway.browser();
  const wide = await connect(gateway, browser, { scope: 'openid pml:run pml:manage owner' });
  expect((await wide.exchange()).body).toMatchObject({ scope: 'pml:run' });
  const slashed = wide.client
    .authorizeUrl({ client_id: wide.clientId, code_challenge: pkce().challenge, scope: 'openid' })
    .replace('/authorize?', '/authorize/?');
  expect((await browser.get(slashed)).status).toBe(401);
  const none = await connect(gateway, browser, { scope: 'pml:manage' });
  expect(none.back.searchParams.get('error')).toBe('invalid_scope');
  const client = hostedClient(url);
  const { client_id } = (await client.register({ scope: 'openid pml:manage' })).body;
  const errorOf = async (fields: Record<string, string>) => {
    const base = { client_id: client_id ?? wide.clientId, code_challenge: pkce().challenge };
    const reply = await browser.get(client.authorizeUrl({ ...base, ...fields }));
    return new URL(String(reply.headers.get('location')), url).searchParams.get('error');
  };
  for (const resource of [
    'https://other.example/mcp',
    `${url}/api`,
    `${url}/mcp/`,
    `${url}/mcp/servers/none`,
    `${url}/mcp/servers/desk/../shed`,
    `${url}.evil.example/mcp`,
    'mcp',
  ])
    expect([resource, await errorOf({ resource })]).toEqual([resource, 'invalid_target']);
});

test('[OAUTH-13] one consent covers one endpoint: two at once are refused, and there is no default', async () => {
  const gateway = await oauthGateway();
  const client = hostedClient(gateway.url);
  const { client_id } = (await client.register()).body;
  const browser = await gateway.browser();
  const base = client.authorizeUrl({ client_id, code_challenge: pkce().challenge });
  const bare = new URL(base);
  bare.searchParams.delete('resource');
  for (const address of [`${base}&resource=${gateway.url}/mcp/all`, bare.href]) {
    const reply = await browser.get(address);
    expect(reply.headers.get('location')).toContain('error=invalid_target');
  }
});

test('[OAUTH-19] a token is not forwarded to servers', async () => {
  const seen: string[] = [];
  const bench = await startHttpFixture({
    guard: async (request) => {
      seen.push(JSON.stringify([...request.headers]), await request.clone().text());
      return null;
    },
  });
  onTestFinished(() => bench.close());
  const gateway = await oauthGateway({ servers: [httpServer('bench', bench.url)] });
  const { access } = await tokensOf(gateway);
  const client = new Client({ name: 'hosted', version: '1' });
  const headers = { authorization: `Bearer ${access}` };
  const address = new URL(`${gateway.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  const call = { tool: 'bench:echo', arguments: { text: 'hi' }, intent: 'say hi' };
  const { isError } = await client.callTool({ name: 'pml_execute', arguments: call });
  await client.close();
  expect(isError ?? false).toBe(false);
  expect(seen.some((text) => text.includes('"hi"'))).toBe(true);
  expect(seen.filter((text) => text.includes(access) || text.includes('authorization'))).toEqual([]);
});

/** A client that is known by its document alone. */
const DOCUMENT = 'https://client.example/oauth/client.json';

const documentOf = (over: Record<string, unknown> = {}) => ({
  client_id: DOCUMENT,
  client_name: 'ChatGPT',
  redirect_uris: [REDIRECT],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  ...over,
});

test('[OAUTH-14] a client that publishes a document needs no registration', async () => {
  const asked: string[] = [];
  const gateway = await oauthGateway({
    fetch: async (address) => {
      asked.push(String(address));
      return Response.json(documentOf());
    },
  });
  const { access, client, clientId, refresh } = await tokensOf(gateway, { clientId: DOCUMENT });
  expect((await call(gateway.url, access)).status).toBe(200);
  const next = await client.token({
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refresh,
  });
  expect(next.status).toBe(200);
  expect(new Set(asked)).toEqual(new Set([DOCUMENT]));
  const [connection] = await gateway.store.oauth.list('Connection');
  expect(connection?.payload).toMatchObject({ client_id: DOCUMENT, client_name: 'ChatGPT' });
});

test('[OAUTH-14] a document that is wrong, too long or elsewhere does not make a client', async () => {
  const replies: Record<string, () => Response> = {
    'another name': () => Response.json(documentOf({ client_id: 'https://other.example/client.json' })),
    'a secret': () => Response.json(documentOf({ client_secret: 'x' })),
    'a method with a secret': () =>
      Response.json(documentOf({ token_endpoint_auth_method: 'client_secret_post' })),
    'plain http': () => Response.json(documentOf({ redirect_uris: ['http://client.example/callback'] })),
    'a redirect': () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1/' } }),
    'not found': () => new Response('no', { status: 404 }),
    'no JSON': () => new Response('<html>'),
    'a list': () => Response.json([documentOf()]),
    'too long': () => Response.json(documentOf({ client_uri: `https://x.example/${'x'.repeat(20_000)}` })),
  };
  let reply = () => new Response();
  const gateway = await oauthGateway({ fetch: async () => reply() });
  const browser = await gateway.browser();
  const client = hostedClient(gateway.url);
  const outcome = async (client_id: string) => {
    const started = await browser.get(client.authorizeUrl({ client_id, code_challenge: pkce().challenge }));
    return [started.status, started.headers.get('location')];
  };
  for (const [name, make] of Object.entries(replies)) {
    reply = make;
    expect([name, ...(await outcome(DOCUMENT))]).toEqual([name, 400, null]);
  }
  reply = () => Response.json(documentOf());
  for (const id of [
    'http://client.example/oauth/client.json',
    'https://user@client.example/oauth/client.json',
    'https://client.example/../client.json',
    `${DOCUMENT}#x`,
    'file:///etc/passwd',
  ])
    expect([id, ...(await outcome(id))]).toEqual([id, 400, null]);
});

test('[OAUTH-14] [OAUTH-17] documents are fetched from public addresses only, within limits', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { url, stranger } = await oauthGateway();
  const client = hostedClient(url);
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '0x7f000001']) {
    const client_id = `https://${host}:${port}/client.json`;
    const started = await stranger.get(client.authorizeUrl({ client_id, code_challenge: pkce().challenge }));
    expect([host, started.status]).toEqual([host, 400]);
    const asked = await client.token({ grant_type: 'refresh_token', client_id, refresh_token: 'x' });
    expect(asked.status).toBeGreaterThanOrEqual(400);
  }
  expect(connections).toBe(0);
  let fetched = 0;
  const busy = await oauthGateway({
    fetch: async () => {
      fetched += 1;
      return new Response('no', { status: 404 });
    },
  });
  const many = hostedClient(busy.url);
  for (let i = 0; i < 60; i++)
    await many.token({ grant_type: 'refresh_token', client_id: `${DOCUMENT}?${i}`, refresh_token: 'x' });
  expect(fetched).toBeLessThan(30);
});
