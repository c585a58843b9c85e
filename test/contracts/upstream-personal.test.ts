import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import type { ServerSettings } from '../../src/engine/ports.ts';
import { bearerGuard, startAuthorizationServer } from '../fixtures/servers/authorization-server.ts';
import { startHttpFixture } from '../fixtures/servers/http-server.ts';
import { referenceServers, writeFiles } from '../support/mcp-reference-servers.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import {
  commandServer,
  eventually,
  httpServer,
  isAlive,
  type OpenUpstream,
  openUpstream,
  stdioServer,
} from './upstream-support.ts';

let opened: OpenUpstream | undefined;
afterEach(() => opened?.dispose());

const perUser = (settings: ServerSettings): ServerSettings => ({ ...settings, credentials: 'per_user' });

interface Seen {
  readonly pid: number;
  readonly env: Readonly<Record<string, string>>;
}

async function whoIs(upstream: OpenUpstream['upstream'], user?: string): Promise<Seen> {
  const reply = await upstream.callTool('bench', 'process', {}, user === undefined ? {} : { user });
  if (!reply.ok) throw new Error(reply.error.message);
  return reply.value.structuredContent as Seen;
}

test('[KEY-12] each user has a process with their own variables, which no other user gets', async () => {
  const secrets: string[] = [];
  opened = openUpstream([perUser(stdioServer('bench'))], { onSecrets: (values) => secrets.push(...values) });
  const { upstream, dataDir } = opened;
  const refused = await upstream.callTool('bench', 'echo', {}, { user: 'ada' });
  expect(refused).toMatchObject({
    ok: false,
    error: {
      code: 'unauthorized',
      errorType: 'PERMISSION',
      hint: expect.stringMatching(/login bench --user ada/),
    },
  });
  await upstream.keep('bench', 'ada', { env: { TOKEN: 'of-ada-123456' } });
  await upstream.keep('bench', 'bob', { env: { TOKEN: 'of-bob-123456' } });
  const [ada, again, bob, nobody] = [
    await whoIs(upstream, 'ada'),
    await whoIs(upstream, 'ada'),
    await whoIs(upstream, 'bob'),
    await whoIs(upstream),
  ];
  expect([ada.env.TOKEN, again.pid === ada.pid]).toEqual(['of-ada-123456', true]);
  expect([bob.env.TOKEN, nobody.env.TOKEN]).toEqual(['of-bob-123456', undefined]);
  expect(new Set([ada.pid, bob.pid, nobody.pid]).size).toBe(3);
  expect(secrets).toEqual(['of-ada-123456', 'of-bob-123456']);
  expect(statSync(join(dataDir, 'logins.json')).mode & 0o777).toBe(0o600);

  await upstream.keep('bench', 'ada', null);
  await eventually(() => isAlive(ada.pid)).toBe(false);
  expect((await upstream.callTool('bench', 'echo', {}, { user: 'ada' })).ok).toBe(false);
  expect((await whoIs(upstream, 'bob')).pid).toBe(bob.pid);
  await upstream.close();
  for (const { pid } of [bob, nobody]) await eventually(() => isAlive(pid)).toBe(false);
});

test('[KEY-12] a server that all users share takes no credentials of users, and knows none', async () => {
  opened = openUpstream([stdioServer('bench')]);
  const kept = await opened.upstream.keep('bench', 'ada', { env: { TOKEN: 'of-ada-123456' } });
  expect(kept).toMatchObject({
    ok: false,
    error: { code: 'usage', hint: expect.stringMatching(/per_user/) },
  });
  expect((await whoIs(opened.upstream, 'ada')).env.TOKEN).toBeUndefined();
});

test('[KEY-12] a browser login belongs to the user who made it', async () => {
  const authority = await startAuthorizationServer();
  const fixture = await startHttpFixture({ guard: bearerGuard(authority) });
  try {
    opened = openUpstream([perUser(httpServer('bench', fixture.url))]);
    const { upstream } = opened;
    const begun = await upstream.login('bench', 'http://127.0.0.1:7777/callback', 'ada');
    if (!begun.ok || begun.value.done) throw new Error(JSON.stringify(begun));
    const sent = await fetch(begun.value.authorizationUrl, { redirect: 'manual' });
    const back = sent.headers.get('location') ?? '';
    expect(await begun.value.finish(back)).toEqual({ ok: true, value: null });
    expect((await upstream.callTool('bench', 'echo', {}, { user: 'ada' })).ok).toBe(true);
    for (const options of [{ user: 'bob' }, {}]) {
      expect((await upstream.callTool('bench', 'echo', {}, options)).ok).toBe(false);
    }
  } finally {
    await opened?.dispose();
    opened = undefined;
    await fixture.close();
    await authority.close();
  }
});

test('[MCP-30] messages of a user’s own process go to that user only, including list changes', async () => {
  opened = openUpstream([perUser(stdioServer('bench'))]);
  const { upstream } = opened;
  const told: unknown[] = [];
  upstream.subscribe((event) => event.type === 'notification' && told.push([event.method, event.user]));
  await upstream.keep('bench', 'ada', { env: { TOKEN: 'of-ada-123456' } });
  await upstream.request('bench', 'logging/setLevel', { level: 'debug' }, { user: 'ada' });
  await upstream.callTool('bench', 'log', { message: 'hers' }, { user: 'ada' });
  await eventually(() => told).toEqual([['notifications/message', 'ada']]);
});

const isolated = (settings: ServerSettings, isolation: 'user' | 'session'): ServerSettings => ({
  ...settings,
  isolation,
});

test('[UP-53] where state is not shared, each user or session has a process, which ends with the session', async () => {
  const pidOf = async (upstream: OpenUpstream['upstream'], user: string, session: string) => {
    const reply = await upstream.callTool('bench', 'process', {}, { user, session });
    return reply.ok ? (reply.value.structuredContent as Seen).pid : 0;
  };
  opened = openUpstream([isolated(stdioServer('bench'), 'session')]);
  const { upstream } = opened;
  const [first, again, second, bobs, shared] = [
    await pidOf(upstream, 'ada', 's1'),
    await pidOf(upstream, 'ada', 's1'),
    await pidOf(upstream, 'ada', 's2'),
    await pidOf(upstream, 'bob', 's1'),
    (await whoIs(upstream)).pid,
  ];
  expect(again).toBe(first);
  expect(new Set([0, first, second, bobs, shared]).size).toBe(5);
  await upstream.forgetClient('s2');
  await eventually(() => isAlive(second)).toBe(false);
  expect(await pidOf(upstream, 'ada', 's1')).toBe(first);
  await opened.dispose();
  opened = openUpstream([isolated(stdioServer('bench'), 'user')]);
  const [adas, bob] = [await pidOf(opened.upstream, 'ada', 's1'), await pidOf(opened.upstream, 'bob', 's1')];
  expect(await pidOf(opened.upstream, 'ada', 's2')).toBe(adas);
  expect(bob).not.toBe(adas);
});

test('[UP-54] a server for one session gets the roots of its client', async () => {
  const folder = await temporaryDir();
  const { note } = writeFiles(folder);
  const { args } = referenceServers(folder).filesystem as { args: string[] };
  // Without a folder of its own the reference server has nothing but the roots.
  const settings = isolated(commandServer('filesystem', args.slice(0, 1)), 'session');
  opened = openUpstream([settings]);
  const client = (uri: string) => ({
    id: uri,
    capabilities: { roots: {} },
    ask: async () => ({ roots: [{ uri, name: 'work' }] }),
  });
  const read = async (session: string, uri: string) =>
    await opened!.upstream.callTool(
      'filesystem',
      'read_text_file',
      { path: note },
      { user: 'ada', session, client: client(uri) },
    );
  // The server looks the folder up before it uses it, without announcing when.
  await eventually(() => read('s1', pathToFileURL(folder).href)).toMatchObject({
    ok: true,
    value: { content: [{ text: 'remember the milk' }] },
  });
  const elsewhere = await temporaryDir();
  expect(await read('s2', pathToFileURL(elsewhere).href)).toMatchObject({ value: { isError: true } });
});
