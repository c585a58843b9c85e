import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { openPostgresStore } from '../../src/adapters/store/open-postgres-store.ts';
import type { Store, WorkflowRun } from '../../src/engine/ports.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { countedPlan, countLines, expectedValues, TASKS } from '../support/counted-workflow.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const KILLED = fileURLToPath(new URL('../support/children/killed-workflow.ts', import.meta.url));
const SHARING = fileURLToPath(new URL('../support/children/shared-workflows.ts', import.meta.url));
const KILLS = proofRuns(100);
const SHARED = proofRuns(200);

interface Told {
  readonly found?: string;
  readonly tasks?: Record<string, { readonly status: string }>;
  readonly asked?: string;
  readonly task?: string;
  readonly ran?: number;
}

function start(script: string, args: readonly string[]) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { process: child, complaints: () => complaints };
}

/** Every task of the run succeeded and gave what it had to. */
function expectRight(run: WorkflowRun | null, seed: number): void {
  expect(run?.status).toBe('success');
  const given = Object.entries(run?.tasks ?? {}).map(([id, state]) => {
    const { status, result } = state as { status: string; result: { value: number } };
    expect(status).toBe('success');
    return [id, result.value];
  });
  expect(Object.fromEntries(given)).toEqual(expectedValues(countedPlan(run?.id ?? '', seed)));
}

test(`[FLOW-12] [FLOW-13] after ${KILLS} kills -9 no finished task ran again, active ones were asked about, and all runs end correctly`, async () => {
  const dir = await temporaryDir();
  const seed = proofSeed();
  await writeFile(join(dir, 'counted'), '');
  await writeFile(join(dir, 'told'), '');
  for (let nth = 0; nth <= KILLS; nth++) {
    const isLast = nth === KILLS;
    const args = isLast ? [dir, String(nth)] : [dir, String(nth), String(seed + nth)];
    const { process: killed, complaints } = start(KILLED, args);
    const [code, signal] = await once(killed, 'exit');
    expect([code, signal, complaints()]).toEqual(isLast ? [0, null, ''] : [null, 'SIGKILL', '']);
  }
  const counts = countLines(await readFile(join(dir, 'counted'), 'utf8'));
  const told = (await readFile(join(dir, 'told'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Told);
  const found = new Map(told.flatMap(({ found: id, tasks }) => (id && tasks ? [[id, tasks]] : [])));
  const asked = new Map(told.flatMap(({ asked: id, task, ran }) => (id ? [[`${id} ${task}`, ran]] : [])));

  const store = await openPgliteStore(dir);
  onTestFinished(() => store.close());
  let underWay = 0;
  for (let nth = 0; nth < KILLS; nth++) {
    const runId = `run-${nth}`;
    // Killed before the run was written down: nothing of it is there, and nothing of it ran.
    const run = await store.runs.get(runId);
    if (run) expectRight(run, seed + nth);
    for (const { id, tool } of countedPlan(runId, seed + nth).tasks) {
      const key = `${runId} ${id}`;
      const ran = counts.get(key) ?? 0;
      const wasUnderWay = found.get(runId)?.[id]?.status === 'running';
      underWay += wasUnderWay ? 1 : 0;
      // A step that may do harm was asked about, and had not run again when it was.
      expect([key, asked.has(key)]).toEqual([key, wasUnderWay && tool === 'counted:step']);
      if (asked.has(key)) expect(asked.get(key)).toBeLessThanOrEqual(1);
      if (!run) expect([key, ran]).toEqual([key, 0]);
      else if (!wasUnderWay) expect([key, ran]).toEqual([key, 1]);
      else expect([1, 2]).toContain(ran);
    }
  }
  expect(underWay).toBeGreaterThan(0);
}, 1_800_000);

async function sharedStore(): Promise<{ url: string; store: Store; file: string }> {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  const store = await openPostgresStore(server.url);
  onTestFinished(() => store.close());
  const file = join(await temporaryDir(), 'counted');
  await writeFile(file, '');
  return { url: server.url, store, file };
}

/** Starts a gateway and waits until it is ready to begin. */
async function gatewayOn(args: readonly string[]) {
  const { process: gateway, complaints } = start(SHARING, args);
  let out = '';
  gateway.stdout.on('data', (chunk) => {
    out += chunk;
  });
  gateway.on('exit', (code, signal) => {
    out += `ended with ${code ?? signal}\n`;
  });
  const said = async (word: string) => {
    await expect.poll(() => out, { timeout: 600_000 }).toMatch(new RegExp(`${word}|ended`));
    if (!out.includes(word)) throw new Error(`A gateway did not say "${word}": ${out}${complaints()}`);
  };
  await said('ready');
  return { gateway, out: () => out, said, complaints };
}

test(`[FLOW-14] ${SHARED} runs started by two gateways on one PostgreSQL: no task twice, none lost`, async () => {
  const { url, store, file } = await sharedStore();
  const seed = proofSeed();
  const args = (nth: number) => [url, file, String(seed + nth), String(SHARED)];
  const both = await Promise.all([gatewayOn(args(0)), gatewayOn(args(1))]);
  for (const { gateway } of both) gateway.stdin.write('go\n');
  for (const { said } of both) await said('done');
  for (const { gateway, complaints } of both) {
    gateway.stdin.end();
    const [code] = await once(gateway, 'exit');
    expect([code, complaints()]).toEqual([0, '']);
  }
  for (let n = 0; n < SHARED; n++) expectRight(await store.runs.get(`run-${n}`), n);
  const counts = countLines(await readFile(file, 'utf8'));
  expect([...counts].filter(([, count]) => count !== 1)).toEqual([]);
  expect(counts.size).toBe(SHARED * TASKS);
  // Both had their share, else it proves nothing.
  for (const { out } of both) expect(out()).toMatch(/ success/);
}, 1_800_000);

test('[FLOW-14] runs of a killed gateway are resumed by another on the same PostgreSQL', async () => {
  const { url, store, file } = await sharedStore();
  const runs = 4;
  const leaseMs = '600';
  const first = await gatewayOn([url, file, '1', String(runs), leaseMs]);
  const second = await gatewayOn([url, file, '1', '0', leaseMs]);
  first.gateway.stdin.write('go\n');
  await expect
    .poll(async () => countLines(await readFile(file, 'utf8')).size, { interval: 10 })
    .toBeGreaterThan(TASKS);
  first.gateway.kill('SIGKILL');
  second.gateway.stdin.write('go\n');
  const states = async () =>
    (await Promise.all(Array.from({ length: runs }, (_, n) => store.runs.get(`run-${n}`)))).map(
      (run) => run?.status ?? 'never began',
    );
  await expect.poll(states, { timeout: 60_000, interval: 50 }).not.toContain('running');
  const counts = countLines(await readFile(file, 'utf8'));
  const asked = new Set(
    (await store.approvals.list({ state: 'pending' })).map(
      ({ runId, arguments: args }) => `${runId} ${(args as { task: string }).task}`,
    ),
  );
  for (const [key, count] of counts) {
    const [runId = '', task = ''] = key.split(' ');
    const isSafe = Number(task.slice(1)) % 2 === 1;
    expect([key, count <= (isSafe ? 2 : 1)]).toEqual([key, true]);
    const state = (await store.runs.get(runId))?.tasks[task] as { status: string };
    expect([key, state.status]).toEqual([key, asked.has(key) ? 'unknown' : 'success']);
  }
}, 120_000);
