import { request } from 'node:http';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { startHttp } from '../support/http-gateway.ts';

async function gateway() {
  const api = new Hono().get('/ping', (context) => context.json({}));
  const running = await startHttp({ api });
  onTestFinished(running.listener.close);
  return running;
}

/** Raw, because `fetch` lets nobody choose Host or Origin: just what a hostile page cannot do either. */
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

test('[HTTP-1] /healthz is open; everything else needs the token', async () => {
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

test('[HTTP-3] a login link works once and gives a cookie that scripts and other sites cannot use', async () => {
  const { listener, access } = await gateway();
  const link = `/login?code=${access.createLoginCode()}`;
  const first = await ask(listener.port, link);
  expect(first.status).toBe(302);
  const cookie = String(first.headers['set-cookie']);
  expect(cookie).toMatch(/HttpOnly/);
  expect(cookie).toMatch(/SameSite=Strict/);
  expect((await ask(listener.port, link)).status).toBe(403);
  const session = cookie.split(';')[0] ?? '';
  expect((await ask(listener.port, '/api/ping', { cookie: session })).status).toBe(200);
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

test('[HTTP-5] what is not there is a JSON error with a code', async () => {
  const { listener, token } = await gateway();
  const missing = await ask(listener.port, '/nowhere', { authorization: `Bearer ${token}` });
  expect(missing.status).toBe(404);
  expect(JSON.parse(missing.body).error).toMatchObject({ code: 'not_found' });
});
