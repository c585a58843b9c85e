import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('[KEY-2] [KEY-21] pml keys creates, lists and revokes keys of a running gateway; the key is shown once', async () => {
  const dir = await temporaryDir();
  const { ready } = await startPml(['serve', '--port', '0', '--data', dir]);
  const status = async (key: string) =>
    (await fetch(`${ready.url}/api/me`, { headers: { authorization: `Bearer ${key}` } })).status;
  const made = await runPml([
    'keys',
    'create',
    'ada-laptop',
    '--role',
    'viewer',
    '--user',
    'ada',
    '--data',
    dir,
  ]);
  const key = made.stdout.trim();
  expect(key).toMatch(/^pml_[0-9a-f]{64}$/);
  expect((await runPml(['keys', 'ls', '--data', dir])).stdout).toMatch(/^ada-laptop .* never /m);
  expect(await status(key)).toBe(200);
  // The use is noted while its request is answered.
  await expect
    .poll(async () => (await runPml(['keys', '--data', dir])).stdout, { interval: 500 })
    .toMatch(/^ada-laptop .* \d{4}-\d\d-\d\d \d\d:\d\d /m);
  const listed = await runPml(['keys', 'ls', '--data', dir, '--json']);
  expect(JSON.parse(listed.stdout).keys).toMatchObject([{ name: 'ada-laptop', role: 'viewer', user: 'ada' }]);
  expect(listed.stdout + made.stderr).not.toContain(key.slice(4));
  const twice = await runPml(['keys', 'create', 'ada-laptop', '--data', dir]);
  expect(twice).toMatchObject({ code: 1, stderr: expect.stringMatching(/pml keys revoke ada-laptop/) });
  expect((await runPml(['keys', 'create', 'x', '--role', 'king', '--data', dir])).code).toBe(2);

  const link = (await runPml(['login', '--key', 'ada-laptop', '--data', dir])).stdout.trim();
  const body = new URLSearchParams(new URL(link).hash.slice(1));
  const login = await fetch(`${ready.url}/login`, { method: 'POST', body });
  const { session } = (await login.json()) as { session: string };
  const headers = { authorization: `Bearer ${session}` };
  const me = async () => await fetch(`${ready.url}/api/me`, { headers });
  expect(await (await me()).json()).toMatchObject({ name: 'ada-laptop', role: 'viewer' });

  const { logins } = JSON.parse((await runPml(['login', 'ls', '--data', dir, '--json'])).stdout);
  expect(logins).toMatchObject([{ id: expect.any(String), about: expect.any(String) }]);
  expect((await runPml(['login', 'revoke', 'no-such', '--data', dir])).code).toBe(1);

  expect((await runPml(['keys', 'revoke', 'ada-laptop', '--data', dir])).code).toBe(0);
  expect([await status(key), (await me()).status]).toEqual([401, 401]);
  expect((await runPml(['keys', 'revoke', 'ada-laptop', '--data', dir])).code).toBe(1);
  const audit = await runPml(['audit', '--data', dir, '--json']);
  const actions = JSON.parse(audit.stdout).entries.map((entry: { action: string }) => entry.action);
  expect(actions).toEqual(['key_revoked', 'key_created', 'policy_changed']);
  const shown = await runPml(['audit', 'ls', '--action', 'key_revoked', '--data', dir]);
  expect(shown.stdout).toMatch(/key_revoked .*ada-laptop/);
});

test('[SCOPE-1] [SCOPE-10] pml keys gives a key a scope, changes it, and shows it with its use', async () => {
  const dir = await temporaryDir();
  const pml = async (...args: string[]) => await runPml(['keys', ...args, '--data', dir]);
  const { ready } = await startPml(['serve', '--port', '0', '--data', dir]);
  const made = await pml('create', 'ci', '--allow', 'disk:*', 'mail:get_*', '--limit', 'calls/hour=5');
  const me = async () => {
    const headers = { authorization: `Bearer ${made.stdout.trim()}` };
    return (await (await fetch(`${ready.url}/api/me`, { headers })).json()) as { scope?: unknown };
  };
  const all = { allow: ['*'], deny: [] };
  const scope = {
    tools: { allow: ['disk:*', 'mail:get_*'], deny: [] },
    servers: all,
    limits: [{ unit: 'calls', per: 'hour', most: 5 }],
    loops: 8,
    lane: null,
  };
  expect((await me()).scope).toEqual(scope);
  const shown = await pml('scope', 'ci', '--deny', 'disk:write', '--loops', 'none', '--lane', 'native');
  expect(shown.stdout.replace(/ +/g, ' ')).toBe(
    'key ci\ntools disk:* mail:get_* not disk:write\nservers all\ncalls/hour 0 of 5 used\n' +
      'loops not stopped\nlane native\n',
  );
  const changed = { ...scope, tools: { ...scope.tools, deny: ['disk:write'] }, loops: null, lane: 'native' };
  expect((await me()).scope).toEqual(changed);
  const { keys } = JSON.parse((await pml('ls', '--json')).stdout);
  expect(keys).toMatchObject([{ name: 'ci', scope: changed, used: [] }]);
  expect((await pml('ls')).stdout).toContain('disk:* mail:get_* not disk:write; 5 calls/hour; native');
  expect((await pml('scope', 'ci', '--limit', 'calls/year=5')).code).toBe(2);
  expect((await pml('scope', 'nobody')).code).toBe(1);
  await pml('scope', 'ci', '--none');
  expect((await me()).scope).toBeUndefined();
  const audit = JSON.parse((await runPml(['audit', '--data', dir, '--json'])).stdout).entries;
  const told = audit.map((entry: { action: string; details: { scope?: unknown } }) => [
    entry.action,
    entry.details.scope,
  ]);
  expect(told.slice(0, 3)).toEqual([
    ['scope_changed', null],
    ['scope_changed', changed],
    ['key_created', scope],
  ]);
});

test('[OPS-8] the gateway answers to the names in http.hosts, as host and as origin, and to no others', async () => {
  const dir = await temporaryDir();
  const config = join(dir, 'pml.json');
  await writeFile(config, JSON.stringify({ pml: { http: { hosts: ['pml.example.com'] } } }));
  const { ready } = await startPml(['serve', '--port', '0', '--data', dir, '--config', config]);
  const port = Number(new URL(String(ready.url)).port);
  const status = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path: '/healthz', headers }, (reply) => {
        reply.resume();
        resolve(reply.statusCode ?? 0);
      });
      asked.on('error', reject).end();
    });
  expect(await status({ host: 'pml.example.com' })).toBe(200);
  expect(await status({ host: 'pml.example.com', origin: 'https://pml.example.com' })).toBe(200);
  expect(await status({ host: 'other.example.com' })).toBe(403);
  expect(await status({ host: 'pml.example.com', origin: 'https://other.example.com' })).toBe(403);
});
