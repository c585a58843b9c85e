import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startEndlessServer } from '../fixtures/servers/endless-http-server.ts';
import { type RunningPml, runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const FLOOD = fileURLToPath(new URL('../fixtures/servers/flood-server.ts', import.meta.url));
/** What a person would notice. */
const PATIENCE_MS = 1_000;
/** No answer at all. */
const WALL_MS = 30_000;
/** What a server may have sent when it is hung up on: one message, and what is on its way in buffers. */
const MOST_BYTES = 64 * 1024 * 1024;
/** How the system counts the time of threads. */
const TICK_MS = 10;
/** The sum of what the steps of an orderly end may take is more; this is far beyond what they do take. */
const END_MS = 20_000;

const SLASHES = '/'.repeat(60);
const TEXTS = [
  `${' '.repeat(15_000)}x`,
  `x${' '.repeat(15_000)}x`,
  `${'!'.repeat(15_000)}x`,
  '+'.repeat(14_000),
  'a. '.repeat(5_000),
  'and then '.repeat(1_800),
  '"'.repeat(15_001),
  'aB_'.repeat(5_000),
  'x'.repeat(200_000),
];
const variables = Array.from({ length: 60 }, (_, i) => `v${i} = 0`).join(', ');
const opened = Array.from({ length: 200 }, (_, i) =>
  i % 2 === 0
    ? `for (const a${i} of v${i % 60}) { v${(i + 1) % 60} = [v${(i + 7) % 60}, a${i}];`
    : `if (args.x${i}) { v${i % 60} = await mcp.flood.ok({ x: v${(i + 1) % 60} });`,
);
const CODES = [
  `${SLASHES}\n// Sums two numbers\n${SLASHES}\nreturn 1 + 1;`,
  `return \`${' '.repeat(60_000)}\`.length;`,
  `\`\`\`\n${' '.repeat(60_000)}`,
  `let ${variables};\n${opened.join('\n')}${'}'.repeat(200)}`,
  `${'('.repeat(100_000)}1`,
  `return "${'\\u{0}'.repeat(20_000)}".length;`,
  'x'.repeat(2_000_000),
];
const TOOLS = [
  'marks blanks quotes secrets keys numbers deep_text ok'.split(' '),
  'content_text content_null content_list deep'.split(' '),
] as const;

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

/**
 * Asks `/healthz` all the time; `end` gives the longest it took, in time that the gateway's main thread ran:
 * how long it had to wait for the machine is not its doing.
 */
function takePulse(url: string, pid: number) {
  let longest = 0;
  let isOver = false;
  const beat = (async () => {
    while (!isOver) {
      const start = await mainThreadMs(pid);
      const signal = AbortSignal.timeout(WALL_MS);
      const isWell = await fetch(`${url}/healthz`, { signal }).then(
        (reply) => reply.ok,
        () => false,
      );
      longest = isWell ? Math.max(longest, (await mainThreadMs(pid)) - start) : WALL_MS;
      await sleep(20);
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await beat;
      return longest;
    },
  };
}

/** Where the system does not tell, time itself. */
async function mainThreadMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return performance.now();
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

async function endInTime({ child, exited }: RunningPml): Promise<void> {
  child.kill('SIGTERM');
  const outcome = await Promise.race([exited, sleep(END_MS, 'still there', { ref: false })]);
  expect(outcome).toBe(0);
}

test('[HANG-11][HANG-4][HANG-5][HANG-6][HANG-8] hostile texts at every entrance hold up nobody', async () => {
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

  // Definitions: those that are sound are there, and what was left out is told.
  await expect.poll(async () => (await ask('/api/servers')).text, { timeout: WALL_MS }).toContain('"tools":');
  await ask('/api/execute', { tool: 'flood:ok' });
  const { stdout: noted } = await runPml(['servers', 'logs', 'flood', '--data', dir]);
  expect(noted).toContain('A tool is left out: its name');
  expect(noted).toContain('Only the first');

  for (const tool of TOOLS[0]) {
    const { status, text } = await ask('/api/execute', { tool: `flood:${tool}`, intent: `try ${tool}` });
    expect({ tool, status, text: text.slice(0, 100) }).toMatchObject({ status: 200 });
  }
  for (const tool of TOOLS[1]) {
    const { status, text } = await ask('/api/execute', { tool: `flood:${tool}`, intent: `try ${tool}` });
    expect({ tool, status }).toMatchObject({ status: 200 });
    const run = JSON.parse(text);
    expect(run).toMatchObject({ status: 'error', error: { code: 'upstream_error' } });
    await expect
      .poll(async () => (await ask(`/api/traces/${run.trace_id}`)).status, { timeout: WALL_MS })
      .toBe(200);
  }
  // A line without an end over HTTP: the server is hung up on, and can be asked again.
  for (let call = 0; call < 2; call++) {
    const { text } = await ask('/api/execute', { tool: 'endless:pour' });
    const message = expect.stringContaining('a message is larger than 33554432 bytes during "tools/call"');
    expect(JSON.parse(text)).toMatchObject({ status: 'error', error: { message } });
  }
  await expect.poll(() => endless.lines.every(({ isOver }) => isOver), { timeout: WALL_MS }).toBe(true);
  for (const { bytes } of endless.lines) expect(bytes).toBeLessThan(MOST_BYTES);
  expect(pml.output().stderr).toContain('was cut off: a message is larger than');
  expect(JSON.parse((await ask('/api/live')).text)).toMatchObject({ runs: [] });

  for (const code of CODES) {
    const { status } = await ask('/api/execute', { code });
    expect({ code: code.slice(0, 20), status }).toMatchObject({ status: expect.toBeOneOf([200, 413]) });
  }
  expect(JSON.parse((await ask('/api/execute', { code: CODES[0] })).text)).toMatchObject({ result: 2 });

  for (const text of TEXTS) {
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
  const lines = TEXTS.map((intent) => JSON.stringify({ ...sample, id: randomUUID(), intent_text: intent }));
  const file = join(dir, 'traces.jsonl');
  await writeFile(file, [...lines, `{"id":${'['.repeat(100_000)}`].join('\n'));
  const imported = await runPml(['trace', 'import', file, '--data', dir]);
  expect(imported.stderr).toContain('16384 is the most');

  expect(await pulse.end()).toBeLessThan(PATIENCE_MS);
  await endInTime(pml);

  const again = await begin(dir);
  await again.ask('/api/suggest', { intent: 'try marks' });
  expect(await again.pulse.end()).toBeLessThan(PATIENCE_MS);
  await endInTime(again.pml);
});
