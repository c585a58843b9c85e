import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { openPostgresStore } from '../../src/adapters/store/open-postgres-store.ts';
import { createRandom } from '../../src/core/numeric/random.ts';
import type { Store } from '../../src/engine/ports.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const WRITER = fileURLToPath(new URL('../support/children/append-traces.ts', import.meta.url));
const KILLS = proofRuns(20);

/** Starts a writer, lets `harm` happen after a random number of acknowledged rows, answers their ids. */
async function writeUntil(
  args: string[],
  rows: number,
  harm: (pid: number) => Promise<void>,
): Promise<string[]> {
  const writer = spawn(process.execPath, [WRITER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const acknowledged: string[] = [];
  let tail = '';
  let complaints = '';
  let harmed = false;
  writer.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  writer.stdout.on('data', (chunk) => {
    const lines = (tail + chunk).split('\n');
    tail = lines.pop() ?? '';
    acknowledged.push(...lines);
    if (!harmed && acknowledged.length >= rows) {
      harmed = true;
      void harm(writer.pid ?? 0);
    }
  });
  await new Promise((resolve) => writer.on('exit', resolve));
  if (acknowledged.length === 0) throw new Error(`The writer wrote nothing: ${complaints}`);
  return acknowledged;
}

async function missing(store: Store, ids: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (const id of ids) if ((await store.traces.get(id)) === null) lost.push(id);
  return lost;
}

test(`[STORE-17] PGlite: ${KILLS} kills -9 during writes lose no acknowledged row, and the store opens again`, async () => {
  const dir = await temporaryDir();
  const random = createRandom(proofSeed());
  const written: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const rows = 1 + random.int(150);
    written.push(
      ...(await writeUntil(['pglite', dir], rows, async (pid) => void process.kill(pid, 'SIGKILL'))),
    );
    const store = await openPgliteStore(dir);
    expect(await missing(store, written)).toEqual([]);
    await store.close();
  }
}, 300_000);

test(`[STORE-18] PostgreSQL: ${KILLS} kills -9 of the writer or of the server lose no acknowledged row`, async () => {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  const random = createRandom(proofSeed());
  const written: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const killServer = kill % 2 === 1;
    const victim = killServer ? await server.pid() : 0;
    const rows = 1 + random.int(150);
    const harm = async (pid: number) => void process.kill(killServer ? victim : pid, 'SIGKILL');
    written.push(...(await writeUntil(['postgres', server.url], rows, harm)));
    if (killServer) await server.restartAfterCrash();
    const store = await openPostgresStore(server.url);
    expect(await missing(store, written)).toEqual([]);
    await store.close();
  }
}, 300_000);
