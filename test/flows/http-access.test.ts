import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { Gateway } from '../../src/engine/gateway.ts';
import { listLogins } from '../../src/operations/list-logins.ts';
import { logOut } from '../../src/operations/log-out.ts';
import type { OperationContext } from '../../src/operations/operation-context.ts';
import { revokeLogin } from '../../src/operations/revoke-login.ts';
import { createApi } from '../../src/surfaces/http/api/create-api.ts';
import { createLogins } from '../../src/surfaces/http/logins.ts';
import { startHttp } from '../support/http-gateway.ts';

async function gateway(options: { now?: () => number } = {}) {
  const context: OperationContext = {
    gateway: {} as Gateway,
    life: 'test',
    lastEventId: () => 'test.0',
    liveRuns: () => new Map(),
    serverLogins: new Map(),
    reading: { sessions: 0, characters: 0, direct: 0 },
  };
  const operations = [listLogins, revokeLogin, logOut];
  const api = createApi(context.gateway, { log: () => {} }, { operations, context });
  api.get('/ping', (asked) => asked.json({}));
  const running = await startHttp({ api }, options);
  onTestFinished(running.listener.close);
  return running;
}

/** Raw, because `fetch` cannot set Host or Origin, which a hostile page cannot do either. */
async function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string; headers: Record<string, unknown> }> {
  return await new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, headers }, (reply) => {
      let body = '';
      reply.on('data', (chunk) => {
        body += chunk;
      });
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body, headers: reply.headers }));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

test('[HTTP-1] /healthz is public; everything else needs the token', async () => {
  const { listener, token } = await gateway();
  expect((await ask(listener.port, '/healthz')).status).toBe(200);
  const refused = await ask(listener.port, '/api/ping');
  expect(refused.status).toBe(401);
  expect(JSON.parse(refused.body).error).toMatchObject({ code: 'unauthorized', hint: expect.any(String) });
  expect((await ask(listener.port, '/api/ping', { authorization: 'Bearer wrong' })).status).toBe(401);
  expect((await ask(listener.port, '/api/ping', { authorization: `Bearer ${token}` })).status).toBe(200);
});

test('[HTTP-2] a request for another host or from a page of another origin is refused, token or not', async () => {
  const { listener, token } = await gateway();
  const authorization = `Bearer ${token}`;
  const cases: Record<string, string>[] = [
    { host: `evil.example:${listener.port}`, authorization },
    { host: '127.0.0.1:1', authorization },
    { origin: 'https://evil.example', authorization },
    { origin: 'null', authorization },
    { origin: `http://evil.example:${listener.port}`, authorization },
  ];
  for (const headers of cases) expect((await ask(listener.port, '/api/ping', headers)).status).toBe(403);
  const own = { origin: `http://localhost:${listener.port}`, authorization };
  expect((await ask(listener.port, '/api/ping', own)).status).toBe(200);
});

const logIn = async (url: string, given: Record<string, string>) => {
  const reply = await fetch(`${url}/login`, { method: 'POST', body: new URLSearchParams(given) });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as { session: string } };
};

test('[HTTP-3] a login link works once and for a limited time, and no answer ever sets a cookie', async () => {
  let now = Date.now();
  const { listener, access } = await gateway({ now: () => now });
  const code = access.createLoginCode();
  const first = await logIn(listener.url, { code });
  expect(first).toMatchObject({ status: 200, body: { session: expect.any(String) } });
  expect(first.headers.get('set-cookie')).toBeNull();
  expect(first.headers.get('cache-control')).toBe('no-store');
  expect((await logIn(listener.url, { code })).status).toBe(403);
  const { session } = first.body;
  expect((await ask(listener.port, '/api/ping', { authorization: `Bearer ${session}` })).status).toBe(200);
  // What a browser would send by itself, to every port of this machine, is worth nothing.
  for (const cookie of [`pml_session=${session}`, `session=${session}`]) {
    expect((await ask(listener.port, '/api/ping', { cookie })).status).toBe(401);
  }
  const late = access.createLoginCode();
  now += 16 * 60_000;
  expect((await logIn(listener.url, { code: late })).status).toBe(403);
});

test('[HTTP-6] logins are distinct, listed, ended one by one, and expire', async () => {
  let now = Date.now();
  const { listener, access } = await gateway({ now: () => now });
  const open = async () => {
    const { body } = await logIn(listener.url, { code: access.createLoginCode() });
    return { authorization: `Bearer ${body.session}` };
  };
  const [one, two] = [await open(), await open()];
  expect(one).not.toEqual(two);
  const ping = async (headers: Record<string, string>) =>
    (await ask(listener.port, '/api/ping', headers)).status;
  const list = await ask(listener.port, '/api/logins', one);
  const { logins } = JSON.parse(list.body);
  expect(logins).toMatchObject([{ is_this_one: true, about: expect.any(String) }, { is_this_one: false }]);
  expect(list.body).not.toContain(one.authorization.split('.')[1]);
  const revoke = (id: string) =>
    fetch(`${listener.url}/api/logins/${id}/revoke`, { method: 'POST', headers: one });
  expect((await revoke(logins[1].id)).status).toBe(200);
  expect((await revoke(logins[1].id)).status).toBe(404);
  expect([await ping(one), await ping(two)]).toEqual([200, 401]);
  const third = await open();
  await fetch(`${listener.url}/api/logout`, { method: 'POST', headers: third });
  expect([await ping(one), await ping(third)]).toEqual([200, 401]);
  now += 31 * 24 * 60 * 60_000;
  expect(await ping(one)).toBe(401);
});

test('[HTTP-6] a login survives the process, its secret is stored nowhere, and a damaged file only ends logins', async () => {
  let text: string | null = null;
  const file = {
    read: async () => text,
    write: async (written: string) => {
      text = written;
    },
  };
  const { secret } = await createLogins(file).open(null, 'Firefox');
  expect(String(text)).not.toContain(secret.split('.')[1]);
  expect(await createLogins(file).find(secret)).toMatchObject({ about: 'Firefox' });
  expect(await createLogins(file).find(secret.replace(/.$/, '!'))).toBeNull();
  text = '{"not": "a list"';
  expect(await createLogins(file).find(secret)).toBeNull();
});

test('[HTTP-6] no page reaches the store itself', async () => {
  const { listener, access } = await gateway();
  const { body } = await logIn(listener.url, { code: access.createLoginCode() });
  const headers = { authorization: `Bearer ${body.session}` };
  expect((await fetch(`${listener.url}/bridge`, { method: 'POST', headers })).status).toBe(403);
});

test('[HTTP-4] guessing a login is slowed down like guessing the token', async () => {
  const { listener } = await gateway();
  const answers = [];
  for (let i = 0; i < 40; i++) answers.push((await logIn(listener.url, { code: `guess-${i}` })).status);
  expect([answers[0], answers.at(-1)]).toEqual([403, 429]);
  expect((await logIn(listener.url, { key: 'pml_guess' })).status).toBe(429);
});

test('[HTTP-2] requests that a browser sends for a foreign page are refused, local or not; a link is followed', async () => {
  const { listener, token } = await gateway();
  const authorization = `Bearer ${token}`;
  for (const site of ['cross-site', 'same-site']) {
    const sent = { authorization, 'sec-fetch-site': site };
    for (const mode of ['no-cors', 'cors', 'same-origin']) {
      expect((await ask(listener.port, '/api/ping', { ...sent, 'sec-fetch-mode': mode })).status).toBe(403);
    }
    const followed = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await ask(listener.port, '/healthz', followed)).status).toBe(200);
    const framed = { ...followed, 'sec-fetch-dest': 'iframe' };
    expect((await ask(listener.port, '/healthz', framed)).status).toBe(403);
  }
  for (const site of ['same-origin', 'none']) {
    expect((await ask(listener.port, '/api/ping', { authorization, 'sec-fetch-site': site })).status).toBe(
      200,
    );
  }
});

test('[HTTP-7] no cache keeps an answer that needs a credential', async () => {
  const { listener, token } = await gateway();
  const { headers } = await ask(listener.port, '/api/ping', { authorization: `Bearer ${token}` });
  expect(headers['cache-control']).toBe('no-store');
});

test('[HTTP-8] a body that is not a form, or not a call, is refused with 400', async () => {
  const { listener, token } = await gateway();
  const post = async (path: string, type: string, body: string | Uint8Array<ArrayBuffer>) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    const reply = await fetch(`${listener.url}${path}`, { method: 'POST', headers, body });
    return { status: reply.status, code: JSON.parse(await reply.text()).error?.code };
  };
  const refused = { status: 400, code: 'invalid_argument' };
  for (const body of ['', 'code=x', '--x\r\n']) {
    expect(await post('/login', 'multipart/form-data; boundary=x', body)).toEqual(refused);
    expect(await post('/login', 'multipart/form-data', body)).toEqual(refused);
  }
  const calls = [null, 'text', {}, { operation: 'a' }, { operation: {}, input: {}, user: 'b' }];
  for (const body of [...calls.map((call) => JSON.stringify(call)), '{', '']) {
    expect(await post('/bridge', 'application/json', body)).toEqual(refused);
  }
});

test('[HTTP-4] guessing the token is slowed down, the right token still works', async () => {
  const { listener, token } = await gateway();
  const guess = () => ask(listener.port, '/api/ping', { authorization: 'Bearer guess' });
  const answers = [];
  for (let i = 0; i < 40; i++) answers.push((await guess()).status);
  expect(answers[0]).toBe(401);
  expect(answers.at(-1)).toBe(429);
  expect((await ask(listener.port, '/api/ping', { authorization: `Bearer ${token}` })).status).toBe(200);
});

test('[HTTP-5] an unknown address is a JSON error with a code', async () => {
  const { listener, token } = await gateway();
  const missing = await ask(listener.port, '/nowhere', { authorization: `Bearer ${token}` });
  expect(missing.status).toBe(404);
  expect(JSON.parse(missing.body).error).toMatchObject({ code: 'not_found' });
});
