import { createSecretKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportSPKI, generateKeyPair, importJWK, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { IssuerSettings } from '../../src/engine/ports.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { call, hostedClient, oauthGateway } from '../support/oauth-gateway.ts';

let issuer: Issuer;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(async () => await issuer?.close());

async function gatewayWith(over: Partial<IssuerSettings> = {}) {
  const gateway = await oauthGateway({
    issuer: {
      url: issuer.url,
      algorithms: ['ES256', 'RS256'],
      userClaim: 'sub',
      scopes: [],
      users: { ada: 'ada-agent', eve: 'eve-viewer', gone: 'no-such-key', sly: '__proto__' },
      ...over,
    },
  });
  await gateway.keyFor('agent', 'ada-agent');
  await gateway.keyFor('viewer', 'eve-viewer');
  return gateway;
}

/** A token as the issuer would sign it, but for what is changed. */
async function forged(
  audience: string,
  changes: { claims?: Record<string, unknown>; header?: Record<string, unknown>; key?: JWK } = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const { claims, header, key = issuer.key() } = changes;
  const all = { iss: issuer.url, aud: audience, sub: 'ada', iat: now, exp: now + 60, ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return await new SignJWT(given)
    .setProtectedHeader({ alg: 'ES256', kid: String(issuer.key().kid), ...header })
    .sign(await importJWK(key, 'ES256'));
}

test('[OAUTH-15] [OAUTH-2] a token of the issuer opens its endpoint, with the key of its user', async () => {
  const { url } = await gatewayWith();
  const metadata = await fetch(`${url}/.well-known/oauth-protected-resource/mcp`);
  expect(await metadata.json()).toMatchObject({
    resource: `${url}/mcp`,
    authorization_servers: [issuer.url],
  });
  const token = await issuer.tokenFor('ada', `${url}/mcp`);
  expect((await call(url, token)).status).toBe(200);
  expect((await call(url, token, '/mcp/all')).status).toBe(401);
  const me = await fetch(`${url}/api/me`, { headers: { authorization: `Bearer ${token}` } });
  expect(me.status).toBe(401);
  // The built-in server is off.
  expect((await hostedClient(url).register()).status).toBe(401);
  expect((await fetch(`${url}/.well-known/oauth-authorization-server`)).status).toBe(401);
});

test('[OAUTH-16] users without a key are refused, those with a viewer key may not run, and "*" covers the rest', async () => {
  const { url } = await gatewayWith();
  const as = async (sub: unknown) =>
    (await call(url, await forged(`${url}/mcp`, { claims: { sub } }))).status;
  expect(await Promise.all(['ada', 'eve', 'gone', 'sly', 'bob', '*', 'constructor', '', 7].map(as))).toEqual([
    200, 403, 401, 401, 401, 401, 401, 401, 401,
  ]);
  const open = await gatewayWith({ users: { '*': 'ada-agent' }, userClaim: 'email' });
  const mail = async (claims: Record<string, unknown>) =>
    (await call(open.url, await forged(`${open.url}/mcp`, { claims }))).status;
  expect(await mail({ email: 'bob@example.com' })).toBe(200);
  expect(await mail({ email: 'bob@example.com', email_verified: false })).toBe(401);
  expect(await mail({})).toBe(401);
});

test('[OAUTH-15] a wrong audience, issuer, time or scope is refused', async () => {
  const { url } = await gatewayWith({ scopes: ['tools'] });
  const now = Math.floor(Date.now() / 1_000);
  const status = async (claims: Record<string, unknown>) =>
    (await call(url, await forged(`${url}/mcp`, { claims: { scope: 'tools', ...claims } }))).status;
  expect(await status({})).toBe(200);
  expect(await status({ aud: [`${url}/mcp`, 'https://other.example'] })).toBe(200);
  for (const claims of [
    { aud: 'https://other.example/mcp' },
    { aud: `${url}/mcp/all` },
    { aud: `${url}/mcp/` },
    { aud: [] },
    { aud: undefined },
    { iss: 'https://other.example' },
    { iss: `${issuer.url}/` },
    { iss: undefined },
    { exp: now - 3_600 },
    { exp: undefined },
    { nbf: now + 3_600 },
    { sub: undefined },
  ])
    expect([claims, await status(claims)]).toEqual([claims, 401]);
  const narrow = await call(url, await forged(`${url}/mcp`, { claims: { scope: 'other' } }));
  expect(narrow.status).toBe(403);
  expect(narrow.headers.get('www-authenticate')).toMatch(/error="insufficient_scope".*scope="tools"/);
});

test('[OAUTH-15] unsigned tokens, confused algorithms and keys of the sender are refused', async () => {
  const { url } = await gatewayWith();
  const audience = `${url}/mcp`;
  const { d: _, ...shown } = issuer.key();
  const spki = await exportSPKI((await importJWK(shown, 'ES256')) as CryptoKey);
  const claims = { iss: issuer.url, aud: audience, sub: 'ada', exp: Math.floor(Date.now() / 1_000) + 60 };
  const hmac = async (secret: string, header: Record<string, unknown> = {}) =>
    await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: String(shown.kid), ...header })
      .sign(createSecretKey(Buffer.from(secret.padEnd(32))));
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const own = { ...(await (await import('jose')).exportJWK(privateKey)), kid: String(shown.kid) };
  const { d: __, ...ownShown } = own;
  const [header, payload, signature] = (await forged(audience)).split('.') as [string, string, string];
  const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  const others = Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url');
  const rsa = await generateKeyPair('RS256');
  const attempts = {
    none: new UnsecuredJWT(claims).encode(),
    'none with a signature': `${none}.${payload}.${signature}`,
    'HS256 with the public key as PEM': await hmac(spki),
    'HS256 with the public key as JWK': await hmac(JSON.stringify(shown)),
    'HS256 with nothing': await hmac(''),
    'a key in the header': await forged(audience, { key: own, header: { jwk: ownShown } }),
    'an address of keys in the header': await forged(audience, {
      key: own,
      header: { jku: 'https://evil.example/keys' },
    }),
    'a key of the sender under a known name': await forged(audience, { key: own }),
    'an unknown key': await forged(audience, { key: own, header: { kid: 'other' } }),
    'RS256 under the name of an EC key': await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: String(shown.kid) })
      .sign(rsa.privateKey),
    'other claims under the same signature': `${header}.${others}.${signature}`,
    'no signature': `${header}.${payload}.`,
    'a critical extension': `${Buffer.from(JSON.stringify({ alg: 'ES256', kid: shown.kid, crit: ['x'], x: 1 })).toString('base64url')}.${payload}.${signature}`,
    'five parts': `${header}.${payload}.${signature}.x.y`,
  };
  for (const [name, token] of Object.entries(attempts))
    expect([name, (await call(url, token)).status]).toEqual([name, 401]);
  // An algorithm that the issuer uses and the configuration does not list.
  const pinned = await gatewayWith({ algorithms: ['RS256'] });
  expect((await call(pinned.url, await forged(`${pinned.url}/mcp`))).status).toBe(401);
});

test('[OAUTH-16] a rotated key is picked up, and the old one is no longer accepted', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const { url } = await gatewayWith();
    const old = issuer.key();
    expect((await call(url, await forged(`${url}/mcp`))).status).toBe(200);
    await issuer.rotate();
    vi.setSystemTime(Date.now() + 15_000);
    expect((await call(url, await issuer.tokenFor('ada', `${url}/mcp`))).status).toBe(200);
    const late = await forged(`${url}/mcp`, { key: old, header: { kid: String(old.kid) } });
    expect((await call(url, late)).status).toBe(401);
  } finally {
    vi.useRealTimers();
  }
});

test('[OAUTH-16] an issuer that is unreachable or names another has its own error', async () => {
  const token = (url: string) => forged(`${url}/mcp`);
  const away = await gatewayWith({ url: 'http://127.0.0.1:9' });
  const lost = await call(away.url, await token(away.url));
  expect([lost.status, ((await lost.json()) as { error: { code: string } }).error.code]).toEqual([
    503,
    'not_available',
  ]);
  const liar = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/auth`,
        token_endpoint: `${issuer.url}/token`,
        response_types_supported: ['code'],
        jwks_uri: `${issuer.url}/jwks`,
      }),
    );
  });
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
  const { port } = liar.address() as AddressInfo;
  const misled = await gatewayWith({ url: `http://127.0.0.1:${port}` });
  expect((await call(misled.url, await token(misled.url))).status).toBe(503);
  liar.close();
});
