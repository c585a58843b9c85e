import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  calculateJwkThumbprint,
  createRemoteJWKSet,
  EmbeddedJWK,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ServerAuth } from '../../src/engine/ports.ts';
import { type HttpFixture, startHttpFixture } from '../fixtures/servers/http-server.ts';
import { type Issuer, passPages, startIssuer } from '../support/issuer.ts';
import { makeTemporaryDir } from '../support/temporary-dir.ts';
import { httpServer, type OpenUpstream, openUpstream } from './upstream-support.ts';

const REDIRECT = 'http://127.0.0.1:7777/callback';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const PML = { kind: 'enterprise', clientId: 'pml', clientSecret: 'geheim und lang' } as const;

let folder: Awaited<ReturnType<typeof makeTemporaryDir>>;
/** The company's identity provider, one whose ID tokens are soon too old, and the server's own authority. */
let idp: Issuer;
let hasty: Issuer;
let authority: Issuer;
let fixture: HttpFixture;
/** Who called, with what kind of token, and the key it is bound to. */
const callers: { user: string; scheme: string; boundTo?: string }[] = [];
let isExpired = (_token: string) => false;
let opened: OpenUpstream | undefined;

const file = (name: string, text: string) => {
  writeFileSync(join(folder.path, name), text);
  return join(folder.path, name);
};

beforeAll(async () => {
  folder = await makeTemporaryDir();
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  file('client.pem', await exportPKCS8(privateKey));
  const clientKey = { ...(await exportJWK(publicKey)), kid: 'client', alg: 'ES256', use: 'sig' } as never;
  idp = await startIssuer();
  [hasty, authority] = await Promise.all([
    startIssuer({ idTokenSeconds: 20 }),
    startIssuer({ trusts: idp.url, clientKey }),
  ]);
  const keys = createRemoteJWKSet(new URL(`${authority.url}/jwks`));
  fixture = await startHttpFixture({ guard: (request) => guard(request, keys) });
});
afterAll(async () => {
  await fixture?.close();
  await Promise.all([idp, hasty, authority].map((issuer) => issuer?.close()));
  await folder?.remove();
});
beforeEach(() => {
  callers.length = 0;
  isExpired = () => false;
  for (const issuer of [idp, hasty, authority]) issuer.grants.length = 0;
});
afterEach(async () => {
  await opened?.dispose();
});

/** The server takes tokens that its authority signed for it, and a proof with those that are bound to a key. */
async function guard(
  request: Request,
  keys: ReturnType<typeof createRemoteJWKSet>,
): Promise<Response | null> {
  const { pathname, origin } = new URL(request.url);
  const metadata = '/.well-known/oauth-protected-resource';
  const resource = `${origin}/mcp`;
  if (pathname.startsWith(metadata)) {
    return Response.json({ resource, authorization_servers: [authority.url] });
  }
  const [scheme = '', token = ''] = (request.headers.get('authorization') ?? '').split(' ');
  try {
    if (isExpired(token)) throw new Error('expired');
    const expected = { issuer: authority.url, audience: resource };
    const { payload } = await jwtVerify(token, keys, expected);
    const { jkt } = (payload.cnf ?? {}) as { jkt?: string };
    if (jkt !== undefined) await checkProof(request, token, jkt);
    callers.push({ user: String(payload.sub), scheme, ...(jkt !== undefined && { boundTo: jkt }) });
    return null;
  } catch {
    const challenge = `Bearer resource_metadata="${origin}${metadata}/mcp"`;
    return new Response('who are you?', { status: 401, headers: { 'www-authenticate': challenge } });
  }
}

async function checkProof(request: Request, token: string, jkt: string): Promise<void> {
  const proof = String(request.headers.get('dpop'));
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt' });
  expect(payload).toMatchObject({
    htm: request.method,
    htu: request.url,
    ath: createHash('sha256').update(token).digest('base64url'),
  });
  expect(await calculateJwkThumbprint(protectedHeader.jwk as JWK)).toBe(jkt);
}

function open(auth: ServerAuth, options: Parameters<typeof openUpstream>[1] = {}) {
  opened = openUpstream([httpServer('bench', fixture.url, { auth })], options);
  return opened.upstream;
}

async function logIn(upstream: OpenUpstream['upstream'], user: string) {
  const begun = await upstream.login('bench', REDIRECT);
  if (!begun.ok || begun.value.done) throw new Error(JSON.stringify(begun));
  return await begun.value.finish(await passPages(begun.value.authorizationUrl, user));
}

const echo = (upstream: OpenUpstream['upstream']) => upstream.callTool('bench', 'echo', {});
const atIdp = (issuer: Issuer) => ({ issuer: issuer.url, clientId: 'pml-at-idp' });

test('[UP-57] a login at the identity provider opens the server, and again when the token has expired', async () => {
  const upstream = open({ ...PML, idp: atIdp(idp) });
  expect(await echo(upstream)).toMatchObject({
    ok: false,
    error: { code: 'unauthorized', hint: expect.stringMatching(/pml servers login bench/) },
  });
  expect(await logIn(upstream, 'ada')).toEqual({ ok: true, value: null });
  expect(await echo(upstream)).toMatchObject({ ok: true });
  expect(new Set(callers.map(({ user, scheme }) => `${user} ${scheme}`))).toEqual(new Set(['ada Bearer']));
  await expect.poll(() => idp.grants).toEqual(['authorization_code', EXCHANGE]);

  // The server expires the tokens it has seen: only the exchange is repeated, without a login.
  const old = storedLogin().tokens.access_token;
  isExpired = (token) => token === old;
  expect(await echo(upstream)).toMatchObject({ ok: true });
  await expect.poll(() => idp.grants).toEqual(['authorization_code', EXCHANGE, EXCHANGE]);
  await expect.poll(() => authority.grants).toEqual([JWT_BEARER, JWT_BEARER]);
});

test('[UP-57] an ID token that is too old is renewed, and one signed by another provider opens nothing', async () => {
  const upstream = open({ ...PML, idp: atIdp(hasty) });
  expect(await logIn(upstream, 'ada')).toMatchObject({
    ok: false,
    error: { code: 'unauthorized', message: expect.stringMatching(/grant request is invalid/) },
  });
  // The SDK tries a refused grant a second time.
  const exchange = ['refresh_token', EXCHANGE];
  await expect.poll(() => hasty.grants).toEqual(['authorization_code', ...exchange, ...exchange]);
  await expect.poll(() => authority.grants).toEqual([`!${JWT_BEARER}`, `!${JWT_BEARER}`]);
  expect(callers).toEqual([]);
});

test('[UP-57] a refusal by the company fails with its message, and the authorization server gets no request', async () => {
  const upstream = open({ ...PML, idp: atIdp(idp) });
  expect(await logIn(upstream, 'mallory')).toMatchObject({
    ok: false,
    error: { code: 'unauthorized', message: expect.stringMatching(/access_denied/) },
  });
  expect(authority.grants).toEqual([]);
});

test('[UP-57] the client secret goes to no other authorization server than its own', async () => {
  const upstream = open({ ...PML, issuer: 'https://auth.example.com', idp: atIdp(idp) });
  expect(await logIn(upstream, 'ada')).toMatchObject({ ok: false });
  expect(authority.grants).toEqual([]);
});

test('[UP-58] a private key in a file signs for the client, and a wrong one is refused', async () => {
  const privateKey = { file: join(folder.path, 'client.pem'), algorithm: 'ES256' };
  const auth = { kind: 'client_credentials', clientId: 'signing', privateKey } as const;
  expect(await echo(open(auth))).toMatchObject({ ok: true });
  expect(new Set(callers.map(({ user }) => user))).toEqual(new Set(['signing']));
  await opened?.dispose();

  const stranger = await generateKeyPair('ES256', { extractable: true });
  const forged = { file: file('forged.pem', await exportPKCS8(stranger.privateKey)), algorithm: 'ES256' };
  expect(await echo(open({ ...auth, privateKey: forged }))).toMatchObject({
    ok: false,
    error: { code: 'unauthorized' },
  });
});

test('[UP-58] the token of the platform is read again, and a refused one is not sent again', async () => {
  const key = await importJWK(idp.key(), 'ES256');
  const token = (audience: string) =>
    new SignJWT({ sub: 'pod-7' })
      .setProtectedHeader({ alg: 'ES256', kid: String(idp.key().kid) })
      .setIssuer(idp.url)
      .setAudience(audience)
      .setExpirationTime('5m')
      .sign(key);
  const tokenFile = file('token', await token('https://elsewhere.example'));
  const upstream = open({ kind: 'workload', clientId: 'pod', tokenFile });
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(await upstream.login('bench', REDIRECT)).toMatchObject({
      ok: false,
      error: { code: 'unauthorized', message: expect.stringContaining(`refused the token in ${tokenFile}`) },
    });
  }
  await expect.poll(() => authority.grants).toEqual([`!${JWT_BEARER}`, `!${JWT_BEARER}`]);
  file('token', `${await token(authority.url)}\n`);
  expect(await echo(upstream)).toMatchObject({ ok: true });
  expect(callers.at(-1)).toEqual({ user: 'pod-7', scheme: 'Bearer' });
});

test('[UP-59] with dpop, tokens are bound to a key that every request proves, and that survives a restart', async () => {
  const privateKey = { file: join(folder.path, 'client.pem'), algorithm: 'ES256' };
  const auth = { kind: 'client_credentials', clientId: 'signing', privateKey, dpop: true } as const;
  const upstream = open(auth);
  expect(await echo(upstream)).toMatchObject({ ok: true });
  const dataDir = String(opened?.dataDir);
  await upstream.close();
  const again = open(auth, { dataDir });
  expect(await echo(again)).toMatchObject({ ok: true });
  const old = storedLogin().tokens.access_token;
  isExpired = (token) => token === old;
  expect(await echo(again)).toMatchObject({ ok: true });
  const bound = new Set(callers.map(({ scheme, boundTo }) => `${scheme} ${boundTo}`));
  expect([...bound]).toEqual([expect.stringMatching(/^DPoP \S{43}$/)]);
});

function storedLogin() {
  const path = join(String(opened?.dataDir), 'logins.json');
  return JSON.parse(readFileSync(path, 'utf8')).bench as { tokens: { access_token: string } };
}
