import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { launchPml, PASSED_ON, runPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const LAUNCHER = join(import.meta.dirname, '..', '..', 'bin', 'pml.js');

/** Arguments for a gateway on this server, with a data dir of its own. */
async function at(url: string, waitMs: number): Promise<string[]> {
  const dir = await temporaryDir();
  const config = join(dir, 'pml.json');
  await writeFile(config, JSON.stringify({ pml: { store: { url, wait_ms: waitMs } } }));
  return ['--config', config, '--data', join(dir, 'data')];
}

test('[TEAM-15] while PostgreSQL is down pml serve waits, alive but not ready, and starts when it is up', async () => {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  await server.crash();
  const port = await freePort();
  const starting = launchPml(['serve', '--port', `${port}`, ...(await at(server.url, 110_000))]);
  const status = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
    return answer && [answer.status, ((await answer.json()) as { status: string }).status];
  };
  await expect.poll(() => status('/healthz'), { timeout: 60_000 }).toEqual([200, 'ok']);
  expect(await status('/readyz')).toEqual([503, 'opening']);
  await server.restartAfterCrash();
  const pml = await starting;
  onTestFinished(() => void pml.child.kill('SIGKILL'));
  expect(await status('/readyz')).toEqual([200, 'ready']);
  expect(pml.output().stderr).toMatch(
    /PostgreSQL at 127.0.0.1:\d+\/pml is not available: .*retrying for \d+ s/,
  );
  pml.child.kill('SIGTERM');
  expect(await pml.exited).toBe(0);
}, 240_000);

test('[TEAM-16] when PostgreSQL does not start in time, pml serve and pml stdio end with the reason, and a call gets it', async () => {
  const nobody = `postgres://pml@127.0.0.1:${await freePort()}/pml`;
  const served = await runPml(['serve', '--port', '0', '--json', ...(await at(nobody, 1_000))]);
  expect(served.code).toBe(1);
  expect(JSON.parse(served.stdout)).toEqual({
    error: {
      code: 'store_unavailable',
      message: expect.stringMatching(/is not available: .* waited 1 s/),
      hint: expect.stringContaining('store.wait_ms'),
    },
  });

  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, 'stdio', ...(await at(nobody, 15_000))],
    env: PASSED_ON,
    stderr: 'pipe',
  });
  let said = '';
  transport.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const client = new Client({ name: 'test', version: '1' });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  client.onclose = resolve;
  await client.connect(transport);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('pml_search_tools');
  const answer = await client.callTool({ name: 'pml_search_tools', arguments: { query: 'x' } });
  expect([answer.isError, JSON.stringify(answer.content)]).toEqual([
    true,
    expect.stringContaining('is not available'),
  ]);
  await ended;
  await expect
    .poll(() => said)
    .toMatch(/retrying for \d+ s.*is not available: .* waited 15 s.*store\.wait_ms/s);
}, 120_000);
