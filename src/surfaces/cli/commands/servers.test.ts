import { expect, test } from 'vitest';
import { openedGateway, runCommand, SERVING } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import type { ServerReport } from '../../../engine/catalogue/inventory.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { Settings } from '../../../engine/ports.ts';
import type { System } from '../system.ts';

const REPORT: ServerReport = {
  name: 'files',
  transport: 'stdio',
  state: 'ready',
  since: new Date('2026-11-15T09:00:00Z'),
  error: null,
  pid: 7,
  toolCount: 12,
  protocolVersion: '2026-07-28',
  callsInFlight: 2,
  callsWaiting: 0,
  garbageLines: 0,
  tools: 12,
  changedTools: [],
  schemaTokens: 3_000,
  suspicions: [],
};

function systemWith(parts: Partial<Gateway>, running = true): Partial<System> {
  return {
    dataDir: () => '/data',
    holder: async () => (running ? SERVING : null),
    loadSettings: async () => ({ file: '/data/pml.json' }) as Settings,
    openGateway: async () => openedGateway(handMadeGateway(parts)),
  };
}

test('[SRVCMD-8] add starts the server and says what it found, or why it does not work', async () => {
  const failure = {
    code: 'upstream_unavailable',
    errorType: 'NETWORK',
    message: 'Server "files" is not available: "no-such" cannot be started',
    hint: 'Install it.',
  } as const;
  const identity = { info: null, capabilities: {}, instructions: null, protocolVersion: '2025-11-25' };
  const adding = async (restart: Gateway['restart'], ...more: string[]) =>
    await runCommand(['servers', 'add', ...more, 'files', '--', 'no-such'], {
      ...systemWith({ servers: async () => [REPORT], restart }, false),
      addServer: async () => '/data/pml.json',
    });
  const works = await adding(async () => ({ ok: true, value: identity }));
  expect(works).toMatchObject({ code: 0, err: '' });
  expect(works.out).toContain('It works: 12 tools.');
  const fails = await adding(async () => ({ ok: false, error: failure }));
  expect(fails.code).toBe(0);
  expect(fails.err).toContain(`It does not work yet: ${failure.message}\n  Install it.\n`);
  expect(fails.err).toContain('pml servers remove files');
  const json = await adding(async () => ({ ok: false, error: failure }), '--json');
  expect(JSON.parse(json.out)).toMatchObject({ name: 'files', error: { message: failure.message } });
  const { out } = await adding(async () => {
    throw new Error('it was started');
  }, '--no-start');
  expect(out).toContain('Added "files"');
});

test('[SRVCMD-4] ls shows state, transport, tools, calls and problems', async () => {
  const broken: ServerReport = {
    ...REPORT,
    name: 'web',
    transport: 'http',
    state: 'backoff',
    error: { code: 'upstream_unavailable', message: 'nobody answers' },
    callsInFlight: 0,
    callsWaiting: 3,
    changedTools: ['web:get'],
  };
  const system = systemWith({ servers: async () => [REPORT, broken] });
  const { out } = await runCommand(['servers'], system);
  expect(out).toBe(
    [
      'NAME   STATE    TRANSPORT  TOOLS  IN FLIGHT',
      'files  ready    stdio      12     2',
      'web    backoff  http       12     0+3        nobody answers; changed definitions: web:get',
      '',
    ].join('\n'),
  );
  const json = JSON.parse((await runCommand(['servers', 'ls', '--json'], system)).out);
  expect(json.servers[1]).toMatchObject({
    name: 'web',
    calls_waiting: 3,
    error: { message: 'nobody answers' },
  });
  expect((await runCommand(['servers'], systemWith({ servers: async () => [] }))).out).toMatch(/pml init/);
});

test('[SRVCMD-1] add takes a command after -- or a URL, headers and variables', async () => {
  const added: unknown[] = [];
  const system: Partial<System> = {
    ...systemWith({}),
    async addServer(_options, name, entry) {
      added.push([name, entry]);
      return '/data/pml.json';
    },
  };
  const stdio = [
    'servers',
    'add',
    'files',
    '--no-start',
    '--env',
    'A=1',
    '--env',
    'B=x=y',
    '--',
    'npx',
    '-y',
    'srv',
    '--root',
    '/x',
  ];
  expect(await runCommand(stdio, system)).toMatchObject({
    code: 0,
    out: 'Added "files" to /data/pml.json. The running gateway applies the change automatically.\n',
  });
  const http = [
    'servers',
    'add',
    'web',
    '--no-start',
    '--url',
    'https://x.example/mcp',
    '--header',
    'X-A=b',
    '--sse',
    '--json',
  ];
  expect(JSON.parse((await runCommand(http, system)).out)).toEqual({
    name: 'web',
    file: '/data/pml.json',
    watched: true,
  });
  expect(added).toEqual([
    ['files', { command: 'npx', args: ['-y', 'srv', '--root', '/x'], env: { A: '1', B: 'x=y' } }],
    ['web', { url: 'https://x.example/mcp', type: 'sse', headers: { 'X-A': 'b' } }],
  ]);
  for (const wrong of [['x'], ['x', '--url', 'u', '--', 'cmd'], ['x', '--env', 'A', '--', 'cmd']]) {
    expect((await runCommand(['servers', 'add', ...wrong], system)).code, wrong.join(' ')).toBe(2);
  }
});

test('[SRVCMD-5] restart and logs use the running gateway, and say so when there is none', async () => {
  const system = systemWith({
    restart: async (server) =>
      server === 'files'
        ? {
            ok: true,
            value: {
              info: { name: 'f' },
              capabilities: {},
              instructions: null,
              protocolVersion: '2026-07-28',
            },
          }
        : {
            ok: false,
            error: { code: 'upstream_unavailable', errorType: 'NETWORK', message: 'it ended', hint: 'Look.' },
          },
    logs: () => ['one', 'two'],
    servers: async () => [REPORT],
  });
  expect((await runCommand(['servers', 'restart', 'files'], system)).out).toContain('MCP 2026-07-28');
  expect(await runCommand(['servers', 'restart', 'web'], system)).toMatchObject({
    code: 1,
    err: 'pml: it ended\n  Look.\n',
  });
  expect((await runCommand(['servers', 'logs', 'files'], system)).out).toBe('one\ntwo\n');
  const idle = await runCommand(['servers', 'logs', 'files'], systemWith({}, false));
  expect(idle).toMatchObject({ code: 1, err: expect.stringContaining('No gateway is running for /data') });
});

test('[SRVCMD-6] login opens the browser, waits for the callback and finishes', async () => {
  const finished: string[] = [];
  let redirect = '';
  const gateway = handMadeGateway({
    async login(_server, redirectUrl) {
      redirect = redirectUrl;
      return {
        ok: true,
        value: {
          done: false,
          authorizationUrl: 'https://login.example/authorize?state=s1',
          async finish(url: string) {
            finished.push(url);
            return new URL(url).searchParams.has('code')
              ? { ok: true, value: null }
              : {
                  ok: false,
                  error: { code: 'unauthorized', errorType: 'PERMISSION', message: 'access_denied' },
                };
          },
        },
      };
    },
  });
  const system = { openGateway: async () => openedGateway(gateway) };

  const login = runCommand(['servers', 'login', 'web'], system);
  await expect.poll(() => redirect).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect((await fetch(redirect)).status).toBe(404);
  expect((await fetch(redirect.replace('/callback', '/?code=1'))).status).toBe(404);
  const page = await (await fetch(`${redirect}?code=abc&state=s1`)).text();
  expect(page).toMatch(/You can close this window/);
  expect(await login).toMatchObject({
    code: 0,
    out: 'Logged in to "web".\n',
    err: expect.stringContaining('https://login.example/authorize?state=s1'),
  });
  expect(finished).toEqual([`${redirect}?code=abc&state=s1`]);

  redirect = '';
  const denied = runCommand(['servers', 'login', 'web', '--json'], system);
  await expect.poll(() => redirect).not.toBe('');
  expect(await (await fetch(`${redirect}?error=access_denied&state=s1`)).text()).toMatch(/login failed/);
  const { code, out } = await denied;
  expect({ code, error: JSON.parse(out).error.code }).toEqual({ code: 1, error: 'unauthorized' });
});

test('[SRVCMD-6] a server that needs no user is logged in at once', async () => {
  const gateway = handMadeGateway({ login: async () => ({ ok: true, value: { done: true } }) });
  const system = { openGateway: async () => openedGateway(gateway) };
  expect((await runCommand(['servers', 'login', 'web'], system)).out).toBe('Logged in to "web".\n');
});
