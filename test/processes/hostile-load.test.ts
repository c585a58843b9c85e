import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEndlessServer } from '../fixtures/servers/endless-http-server.ts';
import { FLOOD, FLOOD_TOOLS, HOSTILE_CODES, HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { takePulse } from '../support/pulse.ts';
import { type RunningPml, runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

/** What a person would notice. */
const PATIENCE_MS = 1_000;
/** What a server may have sent when it is hung up on: one message, and what is on its way in buffers. */
const MOST_BYTES = 64 * 1024 * 1024;

async function begin(dir: string) {
  const pml = await startPml(['serve', '--data', dir, '--port', '0']);
  const url = String(pml.ready.url);
  const token = (await readFile(join(dir, 'token'), 'utf8')).trim();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const ask = async (path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const reply = await fetch(`${url}${path}`, { headers, ...sent });
    return { status: reply.status, text: await reply.text() };
  };
  const { pid } = JSON.parse(await readFile(join(dir, 'holder.json'), 'utf8'));
  return { pml, url, ask, pulse: takePulse(url, pid) };
}

/** In order, and before the limit of the test: how fast that is depends on the machine. */
async function endInTime({ child, exited }: RunningPml): Promise<void> {
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
}

test('[HANG-11][HANG-4][HANG-5][HANG-6][HANG-8] hostile texts at every entry point delay nobody', async () => {
  const dir = await temporaryDir();
  const endless = await startEndlessServer();
  onTestFinished(endless.close);
  const mcpServers = {
    flood: { command: process.execPath, args: [FLOOD] },
    endless: { url: endless.url },
  };
  const glob = '*a'.repeat(60);
  const permissions = { ask: [`flood:${glob}`], default: 'allow' };
  await writeFile(join(dir, 'pml.json'), JSON.stringify({ mcpServers, pml: { permissions } }));
  const { pml, ask, pulse } = await begin(dir);

  // Definitions: valid ones are listed, and notes name what was left out.
  await expect.poll(async () => (await ask('/api/servers')).text).toContain('"tools":');
  await ask('/api/execute', { tool: 'flood:ok' });
  const { stdout: noted } = await runPml(['servers', 'logs', 'flood', '--data', dir]);
  expect(noted).toContain('A tool is left out: its name');
  expect(noted).toContain('Only the first');

  for (const tool of FLOOD_TOOLS.sound) {
    const { status, text } = await ask('/api/execute', { tool: `flood:${tool}`, intent: `try ${tool}` });
    expect({ tool, status, text: text.slice(0, 100) }).toMatchObject({ status: 200 });
  }
  for (const tool of FLOOD_TOOLS.unsound) {
    const { status, text } = await ask('/api/execute', { tool: `flood:${tool}`, intent: `try ${tool}` });
    expect({ tool, status }).toMatchObject({ status: 200 });
    const run = JSON.parse(text);
    expect(run).toMatchObject({ status: 'error', error: { code: 'upstream_error' } });
    await expect.poll(async () => (await ask(`/api/traces/${run.trace_id}`)).status).toBe(200);
  }
  // A line without an end over HTTP: the server is hung up on, and can be asked again.
  for (let call = 0; call < 2; call++) {
    const { text } = await ask('/api/execute', { tool: 'endless:pour' });
    const message = expect.stringContaining('a message is larger than 33554432 bytes during "tools/call"');
    expect(JSON.parse(text)).toMatchObject({ status: 'error', error: { message } });
  }
  await expect.poll(() => endless.lines.every(({ isOver }) => isOver)).toBe(true);
  for (const { bytes } of endless.lines) expect(bytes).toBeLessThan(MOST_BYTES);
  await expect.poll(() => pml.output().stderr).toContain('was cut off: a message is larger than');
  await expect.poll(async () => JSON.parse((await ask('/api/live')).text)).toMatchObject({ runs: [] });

  for (const code of HOSTILE_CODES) {
    const { status } = await ask('/api/execute', { code });
    expect({ code: code.slice(0, 20), status }).toMatchObject({ status: expect.toBeOneOf([200, 413]) });
  }
  expect(JSON.parse((await ask('/api/execute', { code: HOSTILE_CODES[0] })).text)).toMatchObject({
    result: 2,
  });

  for (const text of HOSTILE_TEXTS) {
    const query = encodeURIComponent(text);
    const tries = [
      ask('/api/suggest', { intent: text }),
      ask('/api/execute', { tool: 'flood:ok', intent: text }),
      ask('/api/execute', { tool: text }),
      ask('/api/search', undefined),
      ask(`/api/search?q=${query.slice(0, 14_000)}`),
    ];
    for (const { status } of await Promise.all(tries)) expect(status).toBeLessThan(500);
  }
  for (const path of ['/api/traces/%00', '/api/runs/%00', '/api/capabilities/%00']) {
    expect({ path, ...(await ask(path)) }).toMatchObject({ status: expect.toBeOneOf([400, 404]) });
  }

  // Traces from elsewhere.
  const { stdout } = await runPml(['trace', 'export', '--limit', '1', '--data', dir]);
  const sample = JSON.parse(stdout.split('\n')[0]!);
  const lines = HOSTILE_TEXTS.map((intent) =>
    JSON.stringify({ ...sample, id: randomUUID(), intent_text: intent }),
  );
  const file = join(dir, 'traces.jsonl');
  await writeFile(file, [...lines, `{"id":${'['.repeat(100_000)}`].join('\n'));
  const imported = await runPml(['trace', 'import', file, '--data', dir]);
  expect(imported.stderr).toContain('at most 16384 are allowed');

  expect(await pulse.end()).toBeLessThan(PATIENCE_MS);
  await endInTime(pml);

  const again = await begin(dir);
  await again.ask('/api/suggest', { intent: 'try marks' });
  expect(await again.pulse.end()).toBeLessThan(PATIENCE_MS);
  await endInTime(again.pml);
});
