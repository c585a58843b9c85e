/** Cost of storing a trace: through the store and its database thread, and on PGlite called directly. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { Kysely } from 'kysely';
import type { Database } from '../src/adapters/store/database.ts';
import type { PgliteClient } from '../src/adapters/store/open-pglite-store.ts';
import { openPgliteStore, pgliteDialect } from '../src/adapters/store/open-pglite-store.ts';
import { createSqlStore } from '../src/adapters/store/sql-store.ts';
import { sampleTrace } from '../test/support/samples.ts';

const ROUNDS = 8;
const TRACES_PER_ROUND = 100;

export async function bench() {
  const dir = await mkdtemp(join(tmpdir(), 'pml-bench-'));
  const freshAt = performance.now();
  await (await openPgliteStore(join(dir, 'ours'))).close();
  const freshMs = performance.now() - freshAt;
  const initialiseMs = await time(async () => {
    const fresh = await PGlite.create(join(dir, 'initialised'));
    await fresh.close();
  });
  const againAt = performance.now();
  const store = await openPgliteStore(join(dir, 'ours'));
  const againMs = performance.now() - againAt;
  await (await openPgliteStore(join(dir, 'bare'))).close();
  const bare = await PGlite.create(join(dir, 'bare', 'pg'));

  const ours: number[] = [];
  const direct: number[] = [];
  // Interleaved, so that noise of the machine affects both.
  for (let round = 0; round < ROUNDS; round++) {
    const traces = Array.from({ length: TRACES_PER_ROUND }, () => sampleTrace());
    const statements = await Promise.all(traces.map(insertOf));
    ours.push(
      await time(async () => {
        for (const trace of traces) await store.traces.append(trace);
      }),
    );
    direct.push(
      await time(async () => {
        for (const { sql, params } of statements) await bare.query(sql, [...params]);
      }),
    );
  }
  await store.close();
  await bare.close();
  await rm(dir, { recursive: true, force: true });

  const oursPerSecond = TRACES_PER_ROUND / (median(ours) / 1000);
  const directPerSecond = TRACES_PER_ROUND / (median(direct) / 1000);
  return {
    name: 'store',
    rows: [
      { label: 'initialise a cluster, without the start image', value: initialiseMs, unit: 'ms' },
      {
        label: 'open a fresh data dir, from the start image',
        value: freshMs,
        unit: 'ms',
        ratio: initialiseMs / freshMs,
        goal: '< 1000 ms',
      },
      { label: 'open it again', value: againMs, unit: 'ms' },
      { label: 'append a trace, PGlite called directly', value: directPerSecond, unit: 'traces/s' },
      {
        label: 'append a trace, through the store and its thread',
        value: oursPerSecond,
        unit: 'traces/s',
        ratio: oursPerSecond / directPerSecond,
        goal: '>= 0.5x',
      },
    ],
  };
}

/** The exact statement that the store sends for this trace. */
async function insertOf(trace: ReturnType<typeof sampleTrace>) {
  const sent: { sql: string; params: readonly unknown[] }[] = [];
  const recorder: PgliteClient = {
    async query(sql, params) {
      sent.push({ sql, params });
      return { rows: [], affectedRows: 1 };
    },
    async close() {},
  };
  await createSqlStore(new Kysely<Database>({ dialect: pgliteDialect(recorder) })).traces.append(trace);
  return sent[0]!;
}

async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
