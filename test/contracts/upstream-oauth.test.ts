import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UpstreamLogin } from '../../src/engine/ports.ts';
import {
  type AuthorizationServer,
  bearerGuard,
  startAuthorizationServer,
} from '../fixtures/servers/authorization-server.ts';
import { type HttpFixture, startHttpFixture } from '../fixtures/servers/http-server.ts';
import { httpServer, type OpenUpstream, openUpstream } from './upstream-support.ts';

const REDIRECT = 'http://127.0.0.1:7777/callback';
const MACHINE = { kind: 'client_credentials', clientId: 'machine', clientSecret: 'geheim' } as const;

let authority: AuthorizationServer;
let fixture: HttpFixture;
let opened: OpenUpstream | undefined;
beforeEach(async () => {
  authority = await startAuthorizationServer();
  fixture = await startHttpFixture({ guard: bearerGuard(authority) });
});
afterEach(async () => {
  await opened?.dispose();
  await fixture.close();
  await authority.close();
});

const open: typeof openUpstream = (servers, options) => {
  opened = openUpstream(servers, options);
  return opened;
};
const echoes = (upstream: OpenUpstream['upstream'], count: number) =>
  Promise.all(Array.from({ length: count }, () => upstream.callTool('bench', 'echo', {})));

/** What a browser does: goes where it is sent and is sent back. */
async function browse(login: UpstreamLogin): Promise<string> {
  if (login.done) throw new Error('no browser needed');
  const response = await fetch(login.authorizationUrl, { redirect: 'manual' });
  return response.headers.get('location') ?? '';
}

async function logIn(upstream: OpenUpstream['upstream']): Promise<void> {
  const begun = await upstream.login('bench', REDIRECT);
  if (!begun.ok || begun.value.done) throw new Error(JSON.stringify(begun));
  expect(await begun.value.finish(await browse(begun.value))).toEqual({ ok: true, value: null });
}

test('[UP-37] client credentials get one token for all callers, and a new one when it has expired', async () => {
  const { upstream } = open([httpServer('bench', fixture.url, { auth: MACHINE })]);
  expect((await echoes(upstream, 5)).every((reply) => reply.ok)).toBe(true);
  expect(authority.grants).toEqual(['client_credentials']);
  authority.expireAccessTokens();
  expect((await echoes(upstream, 20)).every((reply) => reply.ok)).toBe(true);
  expect(authority.grants).toEqual(['client_credentials', 'client_credentials']);
  expect(authority.registrations).toBe(0);
});

test('[UP-37] client credentials go only to their own authorization server', async () => {
  const auth = { ...MACHINE, issuer: 'https://auth.example.com' };
  const { upstream } = open([httpServer('bench', fixture.url, { auth })]);
  expect(await upstream.start('bench')).toMatchObject({ ok: false });
  expect(authority.grants).toEqual([]);
});

test('[UP-38] a browser login works, survives a restart and is renewed once for all callers', async () => {
  const { upstream, dataDir } = open([httpServer('bench', fixture.url)]);
  expect(await upstream.start('bench')).toMatchObject({ ok: false, error: { code: 'unauthorized' } });
  expect(authority.registrations).toBe(0);
  await logIn(upstream);
  expect((await echoes(upstream, 3)).every((reply) => reply.ok)).toBe(true);
  expect(statSync(join(dataDir, 'logins.json')).mode & 0o777).toBe(0o600);

  await upstream.close();
  authority.expireAccessTokens();
  const again = openUpstream([httpServer('bench', fixture.url)], { dataDir });
  await again.upstream.start('bench');
  authority.expireAccessTokens();
  // A refresh token used twice would revoke the login: the authorization server is strict.
  expect((await echoes(again.upstream, 20)).every((reply) => reply.ok)).toBe(true);
  expect(authority.grants).toEqual(['authorization_code', 'refresh_token', 'refresh_token']);
  expect(authority.registrations).toBe(1);
  await again.upstream.close();
});

test('[UP-38] an answer of another login, or without a code, is refused', async () => {
  const { upstream } = open([httpServer('bench', fixture.url)]);
  const begun = await upstream.login('bench', REDIRECT);
  if (!begun.ok || begun.value.done) throw new Error(JSON.stringify(begun));
  const back = new URL(await browse(begun.value));
  const forged = new URL(back);
  forged.searchParams.set('state', 'forged');
  const denied = new URL(`${REDIRECT}?error=access_denied&state=${back.searchParams.get('state')}`);
  for (const [url, message] of [
    [forged, /another login/],
    [denied, /access_denied/],
  ] as const) {
    expect(await begun.value.finish(url.href)).toMatchObject({
      ok: false,
      error: { code: 'unauthorized', message: expect.stringMatching(message) },
    });
  }
  expect(authority.grants).toEqual([]);
});

test('[UP-38] calls without a login do not disturb a login in progress', async () => {
  const { upstream } = open([httpServer('bench', fixture.url, { auth: { kind: 'authorization_code' } })]);
  const begun = await upstream.login('bench', REDIRECT);
  if (!begun.ok || begun.value.done) throw new Error(JSON.stringify(begun));
  const [refused] = await echoes(upstream, 1);
  expect(refused).toMatchObject({ ok: false, error: { code: 'unauthorized' } });
  const back = await browse(begun.value);
  const [finished] = await Promise.all([begun.value.finish(back), echoes(upstream, 5)]);
  expect(finished).toEqual({ ok: true, value: null });
  expect((await echoes(upstream, 3)).every((reply) => reply.ok)).toBe(true);
  expect(authority.registrations).toBe(1);
});

test('[UP-38] a revoked login asks for a new one', async () => {
  const { upstream } = open([httpServer('bench', fixture.url, { auth: { kind: 'authorization_code' } })]);
  await logIn(upstream);
  await upstream.start('bench');
  authority.expireAccessTokens();
  authority.revokeRefreshTokens();
  expect(await upstream.callTool('bench', 'echo', {})).toMatchObject({
    ok: false,
    error: { code: 'unauthorized', hint: expect.stringMatching(/pml servers login bench/) },
  });
  await logIn(upstream);
  expect(await upstream.callTool('bench', 'echo', {})).toMatchObject({ ok: true });
});

test('[UP-39] a token is not sent to an address it was not issued for', async () => {
  const { upstream } = open([httpServer('bench', fixture.url)]);
  await logIn(upstream);
  const seen: (string | null)[] = [];
  const stranger = await startHttpFixture({
    guard: async (request) => {
      seen.push(request.headers.get('authorization'));
      return null;
    },
  });
  await upstream.reload([httpServer('bench', stranger.url)]);
  expect(await upstream.callTool('bench', 'echo', {})).toMatchObject({ ok: true });
  expect(new Set(seen)).toEqual(new Set([null]));
  await upstream.reload([]);
  await stranger.close();
});

test('[UP-38] a process and a fixed token have nothing to log in to', async () => {
  const auth = { kind: 'bearer', token: 't' } as const;
  const { upstream } = open([httpServer('bench', fixture.url, { auth })]);
  expect(await upstream.login('bench', REDIRECT)).toMatchObject({ ok: false, error: { code: 'usage' } });
});
