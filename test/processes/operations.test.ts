import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createLoopWatch } from '../../src/adapters/telemetry/loop-watch.ts';
import { createOperations } from '../../src/compose/start-gateway-process.ts';
import { isAlive } from '../contracts/upstream-support.ts';
import { createMemoryTraceExporter } from '../memory/trace-exporter.ts';
import { startHttp } from '../support/http-gateway.ts';
import { servePml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const SERVER = join(import.meta.dirname, '../fixtures/servers/stdio-server.ts');

const CLOCK = { now: () => new Date(), monotonic: () => performance.now() };

async function operated(slow?: () => Promise<unknown>) {
  const { gateway, store } = await testGateway({
    servers: [
      { name: 'desk', tools: [tool('echo', (args) => args), tool('slow', async () => await slow?.())] },
    ],
  });
  const exporter = createMemoryTraceExporter();
  const loop = createLoopWatch(CLOCK, { log: () => {} });
  onTestFinished(loop.close);
  const operations = createOperations({
    gateway,
    events: gateway.events,
    exporter,
    opening: Promise.resolve(),
    version: '1.2.3',
    clock: CLOCK,
    loop,
  });
  const { createApi } = await import('../../src/surfaces/http/api/create-api.ts');
  const api = createApi(gateway, { log: () => {} });
  const { listener, token } = await startHttp({ api, ...operations.routes });
  onTestFinished(async () => {
    await listener.close();
    operations.close();
  });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const get = (path: string, own: Record<string, string> = headers) =>
    fetch(`${listener.url}${path}`, { headers: own });
  const execute = (name: string, args: object) => {
    const body = JSON.stringify({ tool: `desk:${name}`, arguments: args });
    return fetch(`${listener.url}/api/execute`, { method: 'POST', headers, body });
  };
  return { operations, store, exporter, loop, get, execute };
}

test('[HANG-9] /metrics shows when the gateway was blocked', async () => {
  const { get, loop } = await operated();
  await setTimeout(100);
  const until = performance.now() + 700;
  while (performance.now() < until);
  await setTimeout(100);
  // From now on nothing more is counted.
  loop.close();
  const { stalls, stalledMs, longestMs } = loop.figures();
  expect(longestMs).toBeGreaterThan(500);
  const told = async () => await (await get('/metrics')).text();
  for (const text of [await told(), await told()]) {
    expect(text).toContain(`pml_stalls_total ${stalls}\n`);
    expect(text).toContain(`pml_stalled_seconds_total ${stalledMs / 1_000}\n`);
    expect(text).toContain(`pml_longest_stall_seconds ${longestMs / 1_000}\n`);
  }
});

test('[OPS-1] /metrics has exactly the figures that docs/operate.md lists, and counts what happens', async () => {
  const { get, execute } = await operated();
  await execute('echo', { a: 1 });
  await get('/api/traces/none');
  await get('/made/up/by/somebody');
  // A single call is answered before its run has ended.
  await expect
    .poll(async () => await (await get('/metrics')).text())
    .toContain('pml_runs_total{status="success"} 1');
  const reply = await get('/metrics');
  expect(reply.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await reply.text();
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => ({ name, kind }));
  const own = names.filter(({ name }) => name?.startsWith('pml_'));
  const documented = [...(await readFile('docs/operate.md', 'utf8')).matchAll(/^\| `(pml_\w+)` \| (\w+) /gm)];
  const byName = (a: { name?: string | undefined }, b: { name?: string | undefined }) =>
    String(a.name).localeCompare(String(b.name));
  expect(documented.map(([, name, kind]) => ({ name, kind })).sort(byName)).toEqual(own.sort(byName));
  const others = names.filter(({ name }) => !/^(?:pml|process|nodejs)_/.test(name ?? ''));
  expect(others).toEqual([]);

  expect(text).toContain('pml_info{version="1.2.3"} 1');
  expect(text).toContain('pml_calls_total{server="desk",outcome="success"} 1');
  expect(text).toContain('pml_runs_in_progress 0');
  expect(text).toContain('pml_tools 2');
  expect(text).toContain(
    'pml_http_requests_total{method="GET",route="/api/traces/:trace_id",status="404"} 1',
  );
  expect(text).toContain('route="other",status="404"');
  expect(text).not.toContain('somebody');
  expect((await get('/metrics', {})).status).toBe(401);
});

test('[OPS-2] /readyz says whether the gateway accepts work, /healthz whether the process lives', async () => {
  const { get, store, operations } = await operated();
  const ready = async () => {
    const reply = await get('/readyz', {});
    return [reply.status, ((await reply.json()) as { status: string }).status];
  };
  expect(await ready()).toEqual([200, 'ready']);
  const { list } = store.audit;
  Object.assign(store.audit, { list: () => Promise.reject(new Error('gone')) });
  await expect.poll(ready).toEqual([503, 'store_unavailable']);
  Object.assign(store.audit, { list });
  await expect.poll(ready).toEqual([200, 'ready']);
  await operations.quiet();
  expect(await ready()).toEqual([503, 'stopping']);
  expect((await get('/healthz', {})).status).toBe(200);
});

test('[OPS-3] a gateway that ends finishes active work and refuses new work', async () => {
  const began = Promise.withResolvers<void>();
  const done = Promise.withResolvers<unknown>();
  const { execute, operations, get } = await operated(() => {
    began.resolve();
    return done.promise;
  });
  const running = execute('slow', {});
  await began.promise;
  let isQuiet = false;
  const ending = operations.quiet().then(() => {
    isQuiet = true;
  });
  const refused = await execute('echo', {});
  expect({ status: refused.status, wait: refused.headers.get('retry-after') }).toEqual({
    status: 503,
    wait: '5',
  });
  expect(await refused.json()).toMatchObject({ error: { code: 'stopping' } });
  expect((await get('/api/stats')).status).toBe(503);
  await setTimeout(50);
  expect(isQuiet).toBe(false);
  done.resolve({ fine: true });
  expect(await (await running).json()).toMatchObject({ status: 'success', result: { fine: true } });
  await ending;
});

test('[OTEL-7] requests over HTTP are exported with method, route, status and time, and none of their content', async () => {
  const { exporter, get } = await operated();
  await get('/api/traces/secret-id?before=secret');
  expect(exporter.requests).toEqual([
    {
      method: 'GET',
      route: '/api/traces/:trace_id',
      status: 404,
      startedAt: expect.any(Date),
      durationMs: expect.any(Number),
    },
  ]);
});

test('[OPS-3] SIGTERM: active work finishes, new work is refused, no process is left', async () => {
  const dir = await temporaryDir();
  const config = join(dir, 'pml.json');
  const bench = { command: process.execPath, args: [SERVER, 'both'] };
  await writeFile(config, JSON.stringify({ mcpServers: { bench } }));
  const running = await startPml(['serve', '--port', '0', '--data', dir, '--config', config]);
  const token = (await readFile(join(dir, 'token'), 'utf8')).trim();
  const execute = async (code: string) => {
    const reply = await fetch(`${running.ready.url}/api/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };
  const first = await execute('return (await mcp.bench.process({})).pid');
  const pid = Number(first.body.result);
  expect(isAlive(pid)).toBe(true);
  const goOn = join(dir, 'go-on');
  const slow = execute(`await mcp.bench.await_file({ path: ${JSON.stringify(goOn)} }); return "done"`);
  const get = (path: string) =>
    fetch(`${running.ready.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const patience = { timeout: 60_000, interval: 10 };
  await expect
    .poll(async () => await (await get('/api/live')).text(), patience)
    .toContain('bench:await_file');
  running.child.kill('SIGTERM');
  await expect.poll(async () => (await get('/api/me')).status, patience).toBe(503);
  await writeFile(goOn, '');
  expect((await slow).body).toMatchObject({ status: 'success', result: 'done' });
  expect(await running.exited).toBe(0);
  expect(isAlive(pid)).toBe(false);
});

test('[ALERT-3] an alert and its end reach the webhook, even after a failed attempt, and /metrics counts it', async () => {
  const dir = await temporaryDir();
  const told: { text: string; state: string; alert: { kind: string; subject: string } }[] = [];
  let refusals = 1;
  const receiver = createServer(async (request, reply) => {
    const body = await text(request);
    if (refusals-- > 0) return void reply.writeHead(503).end();
    told.push(JSON.parse(body));
    reply.end('ok');
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const { port } = receiver.address() as AddressInfo;
  const secret = 'hooks-T0KEN-9f8e7d6c5b4a';
  const configWith = (failure_rate: number | false) => ({
    mcpServers: { bench: { command: process.execPath, args: [SERVER, 'both'] } },
    pml: { alerts: { failure_rate, p95_ms: false, webhook: `http://127.0.0.1:${port}/${secret}` } },
  });
  const served = await servePml({ data: dir, config: configWith(0.5) });
  onTestFinished(async () => void (await served.stop()));
  const headers = { authorization: `Bearer ${served.token}`, 'content-type': 'application/json' };
  const get = async (path: string) => await (await fetch(`${served.url}${path}`, { headers })).text();
  const execute = (code: string) =>
    fetch(`${served.url}/api/execute`, { method: 'POST', headers, body: JSON.stringify({ code }) });
  await execute('for (let i = 0; i < 10; i++) { try { await mcp.bench.fail({ i }) } catch {} }');
  const words = 'bench:fail failed in 10 of 10 calls in the last 60 minutes.';
  await expect.poll(() => get('/api/alerts')).toContain(words);
  await expect.poll(() => told).toMatchObject([{ state: 'raised', text: `PML: ${words}` }]);
  expect(await get('/metrics')).toContain('pml_alerts{kind="failures"} 1');
  await expect.poll(() => served.output().stderr).toContain(words);
  // Nobody wants to know it any more.
  await writeFile(join(dir, 'pml.json'), JSON.stringify(configWith(false)));
  await expect.poll(() => get('/api/alerts')).not.toContain(words);
  await expect.poll(() => told[1]).toMatchObject({ state: 'resolved', text: `PML: Over: ${words}` });
  expect(await get('/metrics')).toContain('pml_alerts{kind="failures"} 0');
  expect(`${served.output().stderr}${await get('/api/alerts')}`).not.toContain(secret);
});
