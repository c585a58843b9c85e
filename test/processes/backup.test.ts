import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkBackup, writeBackup } from '../../src/adapters/store/backup/backup-file.ts';
import { dump, endOf, type TableEnd } from '../../src/adapters/store/backup/dump.ts';
import { openPgliteStore } from '../../src/adapters/store/open-pglite-store.ts';
import { openPostgresStore } from '../../src/adapters/store/open-postgres-store.ts';
import type { SqlStore } from '../../src/adapters/store/sql-store.ts';
import { migrateStore, restoreBackup } from '../../src/compose/maintenance.ts';
import type { StoreSettings } from '../../src/engine/ports.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { runPml, startPml } from '../support/run-pml.ts';
import { sampleApproval, sampleCapability, sampleRun, sampleTool, sampleTrace } from '../support/samples.ts';
import { settingsFor } from '../support/settings-for.ts';
import { makeTemporaryDir, temporaryDir } from '../support/temporary-dir.ts';

let server: PostgresServer;
let filled: Awaited<ReturnType<typeof makeTemporaryDir>>;
let before: Awaited<ReturnType<typeof contents>>;
beforeAll(async () => {
  server = await startPostgres();
  filled = await makeTemporaryDir();
  const store = await openPgliteStore(filled.path);
  await fill(store);
  before = await contents(store);
  await store.close();
});
afterAll(async () => {
  await server?.dispose();
  await filled?.remove();
});

const quiet = () => {};
const settings = (url: string | null): StoreSettings => ({ ...settingsFor([]).store, url });
const embedded = settings(null);

/** Something in every corner: odd characters, vectors, numbers that were given and taken back. */
async function fill(store: SqlStore): Promise<void> {
  const tools = [sampleTool('b', 'ö'), sampleTool('z', 'A'), sampleTool('z', 'a')];
  await store.tools.put(tools);
  const [first] = tools;
  const vector = Float32Array.from([1 / 3, -0, 1e-30]);
  await store.embeddings.put([{ toolId: first!.id, model: 'm', definitionHash: 'h', vector }]);
  const traces = Array.from({ length: 230 }, (_, i) =>
    sampleTrace({ intentText: `line\u2028end "${i}"`, durationMs: i / 7, priority: 1 / (i + 1) }),
  );
  await store.traces.appendAll(traces);
  await store.traces.remove(traces.slice(-3).map(({ id }) => id));
  await store.capabilities.put(sampleCapability());
  // It waits for a person: one that was under way would be taken up, and change while it is backed up.
  const run = sampleRun({
    status: 'paused',
    tasks: { t1: { status: 'success', text: '\u0000 \ud800' } },
  });
  await store.runs.create(run);
  const approval = sampleApproval({ runId: run.id });
  await store.approvals.request(approval);
  await store.approvals.settle(approval.id, 'approved', 'ada', new Date());
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 256);
  const params = { id: 'p', model: 'm', bytes, metrics: { a: 1 / 3 }, createdAt: new Date() };
  await store.rankerParams.save(params);
}

/** A data dir with all of that; it was filled once, and each test gets a copy. */
async function filledDir() {
  const dir = await temporaryDir();
  await cp(filled.path, dir, { recursive: true });
  return { dir, before };
}

/** Every table's rows and their hash, and what numbers the rows to come. */
async function contents(store: SqlStore) {
  const sequences: unknown[] = [];
  const tables: TableEnd[] = [];
  const { rows: months } = await sql`
    select relname from pg_class where relispartition and relkind = 'r' order by relname`.execute(store.db);
  for await (const piece of dump(store.db)) {
    if (piece.kind === 'sequences') sequences.push(piece.values);
    if (piece.kind === 'end') tables.push(endOf(piece));
  }
  return { tables, sequences, months };
}

async function emptyDatabase(): Promise<string> {
  const name = `pml_${Math.random().toString(36).slice(2)}`;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return server.url.replace(/\/pml$/, `/${name}`);
}

test('[OPS-6] embedded to PostgreSQL and back gives equal dumps', async () => {
  const { dir, before } = await filledDir();
  expect(before.months).toHaveLength(2);
  expect(before.tables.find(({ table }) => table === 'execution_trace')?.rows).toBe(227);
  const url = await emptyDatabase();
  const there = await migrateStore(dir, embedded, url, { replace: false }, quiet);
  expect(there.tables).toEqual(before.tables);
  expect(there).toMatchObject({ from: 'embedded', to: expect.not.stringContaining('secret') });
  const remote = await openPostgresStore(url);
  expect(await contents(remote)).toEqual(before);
  await remote.close();

  const back = await temporaryDir();
  await migrateStore(back, settings(url), 'embedded', { replace: false }, quiet);
  const store = await openPgliteStore(back);
  expect(await contents(store)).toEqual(before);
  // Numbers that were given to traces since forgotten are not given again.
  await store.traces.append(sampleTrace({ id: 'new' }));
  const { cursor } = await store.traces.scan(227, 99);
  expect(cursor).toBeGreaterThan(230);
  await store.close();
});

test('[OPS-6] a store that is not empty, or in use by others, is not overwritten', async () => {
  const { dir } = await filledDir();
  const url = await emptyDatabase();
  const other = await openPostgresStore(url, { name: 'pml another' });
  await other.tools.put([sampleTool()]);
  const move = (replace: boolean) => migrateStore(dir, embedded, url, { replace }, quiet);
  await expect(move(true)).rejects.toMatchObject({ code: 'data_dir_held' });
  await other.close();
  await expect(move(false)).rejects.toMatchObject({
    code: 'store_conflict',
    hint: expect.stringMatching(/--replace/),
  });
  await move(true);
  await expect(migrateStore(dir, embedded, 'embedded', { replace: true }, quiet)).rejects.toMatchObject({
    code: 'usage',
  });
});

test('[OPS-4] a backup of a running gateway, restored elsewhere, has everything; a restore is in the audit log', async () => {
  const { dir } = await filledDir();
  await startPml(['serve', '--port', '0', '--data', dir]);
  const file = join(dir, 'today.backup');
  const made = await runPml(['backup', file, '--data', dir, '--json']);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  const report = JSON.parse(made.stdout);
  expect((await checkBackup(file)).tables).toEqual(report.tables);
  await expect(restoreBackup(dir, embedded, file, { replace: true }, quiet)).rejects.toMatchObject({
    code: 'data_dir_held',
    message: expect.stringMatching(/is held by "pml serve"/),
  });

  const elsewhere = await temporaryDir();
  const restored = await runPml(['restore', file, '--data', elsewhere, '--json']);
  expect(restored.code).toBe(0);
  const isLog = ({ table }: { table: string }) => table === 'audit_log';
  const store = await openPgliteStore(elsewhere);
  const { tables } = await contents(store);
  const [entry] = await store.audit.list({ limit: 1 });
  await store.close();
  expect(tables.filter((table) => !isLog(table))).toEqual(
    report.tables.filter((table: { table: string }) => !isLog(table)),
  );
  expect(entry).toMatchObject({ action: 'restored', subject: file, hash: report.sha256 });
  const again = restoreBackup(elsewhere, embedded, file, { replace: false }, quiet);
  await expect(again).rejects.toMatchObject({
    code: 'store_conflict',
    hint: expect.stringMatching(/--replace/),
  });
});

test('[OPS-5] a backup that is cut off, changed or of another kind changes nothing', async () => {
  const { dir: source } = await filledDir();
  const dir = await temporaryDir();
  const file = join(dir, 'b');
  const store = await openPgliteStore(source);
  await writeBackup(file, new Date(), dump(store.db));
  await store.close();
  const good = await readFile(file);
  const lines = gunzipSync(good).toString().split('\n');
  const zipped = (texts: readonly string[]) => gzipSync(texts.join('\n'));
  const harms: [string, Buffer][] = [
    ['it is incomplete', zipped(lines.slice(0, -20))],
    ['unexpected end', good.subarray(0, good.length / 2)],
    [
      'checksum of table workflow_pattern is wrong',
      zipped(lines.map((line) => line.replace('Keeps the', 'Keeps teh'))),
    ],
    ['it is not a PML backup', zipped(['{"some": "thing"}'])],
    ['incorrect header', Buffer.from('plain text')],
    ['version 99', zipped([lines[0]!.replace('"version":1', '"version":99'), ...lines.slice(1)])],
  ];
  const target = await temporaryDir();
  for (const [says, bytes] of harms) {
    await writeFile(file, bytes);
    await expect(restoreBackup(target, embedded, file, { replace: true }, quiet)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(says),
    });
  }
  const untouched = await openPgliteStore(target);
  const { tables } = await contents(untouched);
  await untouched.close();
  expect(tables.filter(({ rows }) => rows > 0).map(({ table }) => table)).toEqual([
    'graph_state',
    'rollup_state',
    'tally',
  ]);
});

test('[AUDIT-2] the database itself refuses to change or delete entries of the audit log', async () => {
  const url = await emptyDatabase();
  const remote = await openPostgresStore(url);
  const entry = {
    at: new Date(),
    actor: 'ada',
    action: 'edited',
    subject: 's',
    hash: null,
    details: {},
  } as const;
  await remote.audit.append(entry);
  await remote.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const harm of ["update audit_log set actor = 'bob'", 'delete from audit_log', 'truncate audit_log']) {
    await expect(client.query(harm)).rejects.toThrow(/only ever added to/);
  }
  expect((await client.query('select actor from audit_log')).rows).toEqual([{ actor: 'ada' }]);
  await client.end();
});

test('[KEY-7] a key revoked by one gateway is refused by another on the same store within a second', async () => {
  const url = await emptyDatabase();
  const serve = async () => {
    const dir = await temporaryDir();
    await writeFile(join(dir, 'pml.json'), JSON.stringify({ pml: { store: { url } } }));
    const { ready } = await startPml([
      'serve',
      '--port',
      '0',
      '--data',
      dir,
      '--config',
      join(dir, 'pml.json'),
    ]);
    return { dir, url: String(ready.url), at: ['--data', dir, '--config', join(dir, 'pml.json')] };
  };
  const [one, two] = [await serve(), await serve()];
  const key = (await runPml(['keys', 'create', 'ada', ...one.at])).stdout.trim();
  const status = async () =>
    (await fetch(`${two.url}/api/me`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await status()).toBe(200);
  await runPml(['keys', 'revoke', 'ada', ...one.at]);
  await expect.poll(status).toBe(401);
});
