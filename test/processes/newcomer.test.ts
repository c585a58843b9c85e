import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { commandsIn, documentedBlocks, ROOT } from '../support/documented-blocks.ts';
import { callTool } from '../support/mcp-endpoints.ts';
import { LAUNCHER, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const COMMANDS = documentedBlocks()
  .filter(({ page, language }) => page === 'README.md' && language === 'sh')
  .flatMap(({ text }) => commandsIn(text));

/** The command of the README that begins like this, with the ids that the reader has seen. */
function written(beginning: string, ids: Readonly<Record<string, string>> = {}): string {
  const found = COMMANDS.find((command) => command.startsWith(beginning));
  if (found === undefined) throw new Error(`The README has no command "${beginning} …"`);
  const [typed = ''] = found.split(/\s+# /);
  return Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), typed);
}

/** A folder of the reader's own, in whose terminal `pml` is known. */
async function openTerminal() {
  const home = await temporaryDir();
  const bin = join(home, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'pml'), `#!/bin/sh\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`, {
    mode: 0o755,
  });
  const { PML_CONFIG, ...inherited } = process.env;
  const env = {
    ...(inherited as Record<string, string>),
    HOME: home,
    PATH: `${bin}:${inherited.PATH}`,
    // As the README exports it.
    PML_DATA: join(home, '.pml/demo'),
  };
  const type = (command: string) =>
    new Promise<string>((resolve, reject) => {
      const options = { cwd: home, env, maxBuffer: 8 * 1024 * 1024 };
      const child = execFile('bash', ['-c', command], options, (error, stdout, stderr) =>
        error ? reject(new Error(`${command}\n${stdout}${stderr}`)) : resolve(stdout + stderr),
      );
      child.stdin?.end();
    });
  return { home, env, type };
}

test('[DOCS-7] the README leads a newcomer from the demo to a client, a paraphrase, a fork and an approval', async () => {
  const { home, env, type } = await openTerminal();
  expect(written('npm ci && npm start')).toContain('npm start');
  expect(written('export PML_DATA')).toContain('PML_DATA=~/.pml/demo');
  await startPml(['serve', '--demo', '--port', '0'], { env: { HOME: home } });

  // A client, with the entry that the README has for its file.
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8');
  const [entry = ''] = /\{ "command": "pml"[^}]*\}/.exec(readme) ?? [];
  const { command, args } = JSON.parse(entry) as { command: string; args: string[] };
  const client = new Client({ name: 'newcomer', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, env, cwd: home, stderr: 'ignore' }));
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('pml_suggest');

  // A job in new words, once the demo has done it in others.
  const asked = { intent: 'put my notes together in one file' };
  const recognised = async () =>
    JSON.stringify((await callTool(client, 'pml_suggest', asked)).structuredContent.plan);
  await expect.poll(recognised, { interval: 300 }).toContain('"summarise_notes"');
  expect(await type(written('pml suggest'))).toContain('summarise_notes');

  // Another past, once the demo writes no more files.
  const listed = async () => (ran = await type('pml trace ls --limit 50'));
  let ran = '';
  await expect.poll(listed, { interval: 500 }).toContain('make one summary out of all my notes');
  expect(await type(written('pml trace ls'))).toContain('make one summary out of all my notes');
  const [, TRACE_ID = ''] =
    /([\w-]{36}) .* (?:summarise all notes|write a file that summarises) /m.exec(ran) ?? [];
  const forked = await type(written('pml runs fork', { TRACE_ID }));
  expect(forked).toContain('"files": 2');
  expect(await readFile(join(home, '.pml/demo/files/summary.md'), 'utf8')).toContain('Sunday');

  // A call that only a person may allow.
  await type(written('echo'));
  const stopped = await type(written('pml run forget.ts'));
  const [, RUN_ID = ''] = /pml runs approve ([\w-]+)/.exec(stopped) ?? [];
  // In a terminal, the command shows the call and waits for a yes.
  await type(`${written('pml runs approve', { RUN_ID })} --yes`);
  expect(await type(written('pml runs resume', { RUN_ID }))).toContain('deleted');
});
