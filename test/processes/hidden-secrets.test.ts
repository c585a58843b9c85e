import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { runPml, startPml } from '../support/run-pml.ts';
import { sampleSecrets } from '../support/sample-secrets.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const FIXTURE = join(import.meta.dirname, '../fixtures/servers/stdio-server.ts');
const IN_ONE_RUN = 10;

/** Everything below a folder, as one text. */
async function filesIn(dir: string): Promise<string> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return (await Promise.all(files.map((file) => readFile(file, 'latin1')))).join('\n');
}

/** What an agent could write that comes across these texts; `bare` says nothing of what it is. */
function programWith(texts: readonly string[], bare: readonly string[]): string {
  const [logged, thrown, sent, written, ...named] = texts;
  return `
    await mcp.bench.echo({ text: ${JSON.stringify(`before: ${bare.join(' , ')}`)} });
    const note = ${JSON.stringify(written)};
    console.log(${JSON.stringify(logged)});
    const { echoed } = await mcp.bench.echo({ text: ${JSON.stringify(sent)}, list: ${JSON.stringify(named)} });
    try { throw new Error(${JSON.stringify(thrown)}) } catch (error) { console.error(error.message) }
    switch (${JSON.stringify(bare[0])}) { case ${JSON.stringify(bare[0])}: await mcp.bench.echo({ text: echoed.text + '!' }); break; default: }
    await mcp.bench.echo({ text: ${JSON.stringify(`after: ${bare.join(' , ')}`)}, note });
    throw new Error(${JSON.stringify(bare[1])});`;
}

test('[RED-11] none of 200 secrets of 70 kinds can be read in store, backup, logs, events, exports or figures', async () => {
  const dir = await temporaryDir();
  const config = join(dir, 'pml.json');
  const bench = { command: process.execPath, args: [FIXTURE, 'both'] };
  await writeFile(config, JSON.stringify({ mcpServers: { bench } }));
  const data = join(dir, 'data');
  const at = ['--data', data, '--config', config];
  const running = await startPml(['serve', '--port', '0', ...at], { env: { PML_LOG: 'debug' } });
  const headers = {
    authorization: `Bearer ${(await readFile(join(data, 'token'), 'utf8')).trim()}`,
    'content-type': 'application/json',
  };
  const ask = (path: string, body?: object) =>
    fetch(`${running.ready.url}${path}`, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });

  const lastEvent = async () =>
    ((await (await ask('/api/live')).json()) as { last_event_id: string }).last_event_id;
  const start = await lastEvent();

  const samples = sampleSecrets(200, 7);
  expect(new Set(samples.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(60);
  for (let first = 0; first < samples.length; first += IN_ONE_RUN) {
    const some = samples.slice(first, first + IN_ONE_RUN);
    const code = programWith(
      some.map(({ text }) => text),
      some.map(({ secret }) => secret),
    );
    const intent = `Tell me of ${some.map(({ secret }) => secret).join(' and ')}`;
    const run = await ask('/api/execute', { code, intent });
    expect(await run.json()).toMatchObject({ status: 'error', error: { code: 'code_failed' } });
    // One of them each on its own, as a single call, and in a program that succeeds and is worth learning.
    const { text, secret } = some[0]!;
    const call = { tool: 'bench:echo', arguments: { text, again: secret }, intent: `please ${text}` };
    expect(await (await ask('/api/execute', call)).json()).toMatchObject({ status: 'success' });
    const learnable = {
      code: `return await mcp.bench.echo({ text: ${JSON.stringify(text)} });`,
      intent: `echo ${text}`,
    };
    expect(await (await ask('/api/execute', learnable)).json()).toMatchObject({ status: 'success' });
  }

  // A word that its context marks as a password is hidden too.
  const code = `const { echoed } = await mcp.bench.echo({ text: 'x' });
return (await mcp.bench.echo({ text: echoed.text })).echoed.text.length;`;
  const said = {
    code,
    intent: 'log into the acmecorp account with my password swordfish and count the text',
  };
  for (let run = 0; run < 2; run++) await (await ask('/api/execute', said)).json();
  const capabilities = async () => await (await ask('/api/capabilities')).text();
  await expect.poll(capabilities, { timeout: 60_000 }).toContain('bench:echo');
  expect(await capabilities()).not.toMatch(/swordfish|acmecorp/i);

  const backup = join(dir, 'all.backup');
  const exported = join(dir, 'traces.jsonl');
  expect((await runPml(['backup', backup, ...at])).stderr).not.toContain('cannot');
  expect((await runPml(['trace', 'export', exported, ...at])).stderr).not.toContain('cannot');
  const shown: Record<string, string> = {
    backup: gunzipSync(await readFile(backup)).toString(),
    export: await readFile(exported, 'utf8'),
    figures: await (await ask('/metrics')).text(),
    traces: await (await ask('/api/traces?limit=200')).text(),
    runs: await (await ask('/api/runs')).text(),
    capabilities: await capabilities(),
    audit: await (await ask('/api/audit')).text(),
    events: await eventsUntil(await lastEvent(), await ask(`/api/events?since=${start}`)),
  };
  running.child.kill('SIGTERM');
  await running.exited;
  shown.log = Object.values(running.output()).join('\n');
  shown.store = await filesIn(data);
  expect(shown.export!.split('\n').length).toBeGreaterThan(60);
  expect(shown.backup).toContain('bench:echo');
  expect(shown.events).toContain('bench:echo');

  const readable = Object.entries(shown).flatMap(([place, text]) =>
    samples.filter(({ secret }) => text.includes(secret)).map(({ kind }) => `${place}: ${kind}`),
  );
  expect(readable).toEqual([]);
}, 300_000);

/** The past events, up to this one. */
async function eventsUntil(last: string, response: Response): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes(`id: ${last}\n`)) {
    const next = await reader.read();
    if (next.done) break;
    text += next.value;
  }
  await reader.cancel();
  return text;
}
