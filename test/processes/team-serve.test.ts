import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startPostgres } from '../support/postgres-server.ts';
import { runPml, startPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const require = createRequire(import.meta.url);
const THINKING = join(
  dirname(require.resolve('@modelcontextprotocol/server-sequential-thinking/package.json')),
  'dist/index.js',
);
const PROGRAM = `const think = (thoughtNumber: number) =>
  mcp.thinking.sequentialthinking({ thought: 'x', nextThoughtNeeded: false, thoughtNumber, totalThoughts: 2 });
await think(2);
return await think(1);`;

test('[TEAM-6] what is learned through one pml serve can be called through another on the same PostgreSQL', async () => {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  const dir = await temporaryDir();
  const config = join(dir, 'pml.json');
  const thinking = { command: process.execPath, args: [THINKING] };
  await writeFile(config, JSON.stringify({ mcpServers: { thinking }, pml: { store: { url: server.url } } }));
  const at = (name: string) => ['--config', config, '--data', join(dir, name)];
  await Promise.all(['a', 'b'].map((name) => mkdir(join(dir, name))));
  const both = await Promise.all(['a', 'b'].map((name) => startPml(['serve', '--port', '0', ...at(name)])));

  const program = join(dir, 'think.ts');
  await writeFile(program, PROGRAM);
  for (const _ of [1, 2]) {
    const ran = await runPml(['run', program, '--intent', 'think a thought', ...at('a')]);
    expect([ran.code, ran.stderr]).toEqual([0, '']);
  }
  const listed = async () => (await runPml(['capability', 'ls', '--json', ...at('b')])).stdout;
  await expect.poll(listed, { timeout: 60_000, interval: 500 }).toContain('"active"');
  const { capabilities } = JSON.parse(await listed()) as { capabilities: { slug: string }[] };
  const called = await runPml(['capability', 'run', capabilities[0]!.slug, '--json', ...at('b')]);
  expect([called.code, called.stdout]).toEqual([0, expect.stringMatching(/"thoughtNumber": ?1/)]);
  for (const { child, exited } of both) {
    child.kill('SIGTERM');
    expect(await exited).toBe(0);
  }
}, 240_000);
