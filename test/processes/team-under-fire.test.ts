import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresStore } from '../../src/adapters/store/open-postgres-store.ts';
import { createRandom } from '../../src/core/numeric/random.ts';
import { LEAST_RUNS } from '../../src/engine/learning/live-ranker.ts';
import type { Store } from '../../src/engine/ports.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { countLines } from '../support/counted-workflow.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

const GATEWAY = fileURLToPath(new URL('../support/children/team-gateway.ts', import.meta.url));
const GATEWAYS = 4;
const KILLS = proofRuns(12) + 1;
/** Traces acknowledged between two kills, however long that takes. */
const TRACES_PER_KILL = KILLS > 10 ? 30 : 8;

interface Told {
  readonly at: number;
  readonly ready?: true;
  readonly stopped?: true;
  readonly seat?: boolean;
  readonly trained?: number;
  readonly led?: boolean;
  readonly trace?: string | null;
  readonly run?: string;
  readonly status?: string;
  readonly refused?: string;
  readonly why?: string;
  readonly graph?: string;
  readonly runs?: number;
  readonly waiting?: number;
}

/** One life of a gateway. */
class Life {
  readonly told: Told[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  complaints = '';
  endedAt = Number.POSITIVE_INFINITY;

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, [GATEWAY, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    let rest = '';
    this.#child.stdout.on('data', (chunk) => {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.told.push(JSON.parse(line) as Told);
    });
    this.#child.stderr.on('data', (chunk) => {
      this.complaints += chunk;
    });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  async said(what: keyof Told, since = 0): Promise<Told> {
    const found = () => this.told.slice(since).find((fact) => fact[what] !== undefined);
    await expect
      .poll(() => found() !== undefined || this.#child.exitCode !== null, { timeout: 60_000 })
      .toBe(true);
    const fact = found();
    if (!fact) throw new Error(`A gateway ended without saying "${what}": ${this.complaints}`);
    return fact;
  }

  ask(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null) throw new Error(`A gateway ended by itself: ${this.complaints}`);
    const gone = once(this.#child, 'exit');
    // Before it: the next one may hold the lock a moment later.
    this.endedAt = Date.now();
    this.#child.kill('SIGKILL');
    await gone;
  }

  async end(): Promise<number | null> {
    const gone = once(this.#child, 'exit');
    this.#child.stdin.end();
    const [code] = await gone;
    return code;
  }
}

/** When this life held the trainer's seat. */
function seatTimes({ told, endedAt }: Life): { from: number; to: number }[] {
  const times: { from: number; to: number }[] = [];
  // It lived on for a moment if it told something then.
  const end = Math.max(endedAt, told.at(-1)?.at ?? 0);
  for (const { seat, at } of told) {
    if (seat === true) times.push({ from: at, to: end });
    if (seat === false) times.at(-1)!.to = at;
  }
  return times;
}

test(`[TEAM-12] four gateways, ${KILLS} kills and two restarts of the server: no acknowledged trace lost, no task twice, all graphs equal, one trains`, async () => {
  const seed = proofSeed();
  const random = createRandom(seed);
  const server = await startPostgres();
  onTestFinished(server.dispose);
  const dir = await temporaryDir();
  const file = join(dir, 'counted');
  await writeFile(file, '');
  const lives: Life[] = [];
  const begin = (slot: number) => {
    const life = new Life([server.url, join(dir, `gateway-${slot}`), file, String(seed + lives.length)]);
    lives.push(life);
    return life;
  };
  for (let slot = 0; slot < GATEWAYS; slot++) await mkdir(join(dir, `gateway-${slot}`));
  const living = Array.from({ length: GATEWAYS }, (_, slot) => begin(slot));
  await Promise.all(living.map((life) => life.said('ready')));

  const acknowledgedSoFar = () =>
    lives.flatMap(({ told }) => told).filter(({ trace }) => typeof trace === 'string').length;
  const atWork = async () => {
    const enough = acknowledgedSoFar() + TRACES_PER_KILL;
    await expect.poll(acknowledgedSoFar, { timeout: 60_000 }).toBeGreaterThanOrEqual(enough);
  };
  for (let nth = 1; nth <= KILLS; nth++) {
    await atWork();
    const slot = random.int(GATEWAYS);
    await living[slot]!.kill();
    if (nth === 1 || nth === Math.ceil(KILLS / 2)) {
      // One that starts waits for a server that is away; one that goes away in the middle of its start ends it.
      await Promise.all(living.filter((_, other) => other !== slot).map((life) => life.said('ready')));
      await restart(server, nth === 1 ? 'SIGKILL' : 'SIGINT');
    }
    living[slot] = begin(slot);
  }
  await Promise.all(living.map((life) => life.said('ready')));
  await atWork();
  const graphs = async () => {
    const asked = living.map((life) => {
      const since = life.told.length;
      life.ask('graph');
      return life.said('graph', since);
    });
    return await Promise.all(asked);
  };
  // While they work: chance decides how many runs have an intent, and with fewer there is nothing to train on.
  await expect
    .poll(async () => Math.min(...(await graphs()).map(({ runs }) => runs ?? 0)), { timeout: 120_000 })
    .toBeGreaterThanOrEqual(LEAST_RUNS);
  for (const life of living) life.ask('stop');
  await Promise.all(living.map((life) => life.said('stopped')));

  const store = await openPostgresStore(server.url);
  onTestFinished(() => store.close());
  // Unfinished runs are resumed; where it is unknown whether a step ran, a person is asked and the run waits.
  const states = async () => (await store.runs.list(10_000)).map(({ status }) => status);
  await expect.poll(states, { timeout: 120_000, interval: 500 }).not.toContain('running');
  await expect
    .poll(async () => {
      const all = await graphs();
      return {
        graphs: new Set(all.map(({ graph }) => graph)).size,
        waiting: all.map(({ waiting }) => waiting),
      };
    })
    .toEqual({ graphs: 1, waiting: living.map(() => 0) });

  const facts = lives.flatMap(({ told }) => told);
  const acknowledged = facts.flatMap(({ trace }) => trace ?? []);
  const kept = await idsOf(store);
  expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(20);
  const succeeded = facts.flatMap(({ run, status }) => (run && status === 'success' ? [run] : []));
  for (const run of succeeded) expect((await store.runs.get(run))?.status).toBe('success');
  expect(succeeded.length).toBeGreaterThan(0);

  const counts = countLines(await readFile(file, 'utf8'));
  expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
  const refusals = new Set(facts.flatMap(({ refused, why }) => (refused ? [`${refused}: ${why}`] : [])));
  expect([...refusals].filter((reason) => !reason.startsWith('store_unavailable'))).toEqual([]);

  // All are asked to; one does: the one that has the seat by now.
  await expect.poll(() => living.flatMap((life) => seatTimes(life)).length).toBeGreaterThan(0);
  for (const life of living) life.ask('train');
  const led = await Promise.all(living.map((life) => life.said('led')));
  expect(led.filter((fact) => fact.led)).toHaveLength(1);

  const times = lives.flatMap((life) => seatTimes(life)).sort((a, b) => a.from - b.from);
  expect(times.length).toBeGreaterThan(0);
  expect(times.filter(({ from }, i) => i > 0 && from < times[i - 1]!.to)).toEqual([]);
  for (const life of lives) {
    const held = seatTimes(life);
    for (const { trained, at } of life.told) {
      if (trained !== undefined) expect(held.some(({ from, to }) => from <= at && at <= to)).toBe(true);
    }
  }
  expect(await Promise.all(living.map((life) => life.end()))).toEqual(living.map(() => 0));
}, 600_000);

async function idsOf(store: Store): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor = 0; ; ) {
    const page = await store.traces.scan(cursor, 500);
    if (page.traces.length === 0) return ids;
    for (const { id } of page.traces) ids.add(id);
    cursor = page.cursor;
  }
}

/** Killed, it recovers from its log; interrupted, it says good-bye to all. */
async function restart(server: PostgresServer, signal: NodeJS.Signals): Promise<void> {
  process.kill(await server.pid(), signal);
  await setTimeout(500);
  await server.restartAfterCrash();
}
