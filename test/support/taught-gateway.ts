import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished } from 'vitest';
import { referenceServers } from './mcp-reference-servers.ts';
import { startPml } from './run-pml.ts';
import { temporaryDir } from './temporary-dir.ts';

type Permissions = Readonly<Record<string, readonly string[]>>;

type Servers = Readonly<Record<string, object>>;

/** A real gateway with the real filesystem server, or others, used over HTTP while it learns. */
export async function taughtGateway(
  permissions: Permissions = {},
  serversFor: (dir: string) => Servers = (dir) => ({ filesystem: referenceServers(dir).filesystem! }),
) {
  const dir = await temporaryDir();
  const permit = async (rules: Permissions) => {
    const config = {
      mcpServers: serversFor(dir),
      pml: { permissions: rules },
    };
    await writeFile(join(dir, 'pml.json'), JSON.stringify(config));
  };
  await permit(permissions);
  const where = ['--data', join(dir, 'data'), '--config', join(dir, 'pml.json')];
  const env = { PML_LOG: 'info' };
  const { ready, output } = await startPml(['serve', '--port', '0', ...where], { cwd: dir, env });
  const authorization = `Bearer ${(await readFile(join(dir, 'data', 'token'), 'utf8')).trim()}`;
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(new URL(path, String(ready.url)), { ...init, headers });
    return JSON.parse(await answer.text());
  };
  const get = (path: string) => ask(path);
  return {
    dir,
    where,
    get,
    post: (path: string, body: object) => ask(path, { method: 'POST', body: JSON.stringify(body) }),
    /** An agent with its own session. */
    connect: async () => {
      const client = new Client({ name: 'agent', version: '1' }, { capabilities: {} });
      const requestInit = { headers: { authorization } };
      await client.connect(
        new StreamableHTTPClientTransport(new URL('/mcp', String(ready.url)), { requestInit }),
      );
      onTestFinished(() => client.close());
      return client;
    },
    /** Changes the permissions; the gateway notices by itself. */
    permit,
    /** Waits until the gateway has learned from this many runs. */
    learnedFrom: (runs: number) =>
      expect
        .poll(async () => (await get('/api/learning')).runs, { timeout: 120_000 })
        .toBeGreaterThanOrEqual(runs),
    /** Waits until plans are learned and not only copied from runs. Suggestions ask for that, once there is a ranker. */
    learnedPlans: () =>
      expect
        .poll(
          async () => {
            await ask('/api/suggest', {
              method: 'POST',
              body: JSON.stringify({ intent: 'whatever is usual' }),
            });
            return output().stderr;
          },
          { timeout: 120_000, interval: 500 },
        )
        .toContain('"Learned plans"'),
  };
}

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** The same job as people ask for it from day to day. */
export function wordings(job: string, count: number): string[] {
  return Array.from(
    { length: count },
    (_, n) => `${job} for ${DAYS[n % 7]} of week ${1 + Math.floor(n / 7)}`,
  );
}

/** Runs a few at a time, as several agents would. */
export async function inTurns(
  intents: readonly string[],
  run: (intent: string) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < intents.length; i += 6) await Promise.all(intents.slice(i, i + 6).map(run));
}
