import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Database } from '../../src/adapters/store/database.ts';
import { openPgliteStore, pgliteDialect, startPglite } from '../../src/adapters/store/open-pglite-store.ts';
import { openPostgresStore } from '../../src/adapters/store/open-postgres-store.ts';

/** A temporary data dir with its database. */
export interface ScratchStore {
  readonly dir: string;
  /** Null: the embedded database in the data dir. */
  readonly url: string | null;
  /** For bulk writes; nothing else may have the store open meanwhile. */
  open(): Promise<Kysely<Database>>;
  diskBytes(): Promise<number>;
  remove(): Promise<void>;
}

/** Embedded, with the current tables, all empty. */
export async function scratchPglite(): Promise<ScratchStore> {
  const dir = await mkdtemp(join(tmpdir(), 'pml-simulate-'));
  await (await openPgliteStore(dir)).close();
  const cluster = join(dir, 'pg');
  return {
    dir,
    url: null,
    open: async () => new Kysely<Database>({ dialect: pgliteDialect(await startPglite(cluster)) }),
    diskBytes: () => bytesIn(cluster),
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** A new database on the server, dropped at the end. */
export async function scratchPostgres(server: string): Promise<ScratchStore> {
  const dir = await mkdtemp(join(tmpdir(), 'pml-simulate-'));
  const name = `pml_simulate_${process.pid}_${Date.now()}`;
  await ask(server, `create database ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  await (await openPostgresStore(url)).close();
  return {
    dir,
    url,
    open: async () =>
      new Kysely<Database>({
        dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
      }),
    diskBytes: async () => Number(await ask(url, `select pg_database_size('${name}')`)),
    async remove() {
      await ask(server, `drop database if exists ${name} with (force)`);
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The first value of the first row. */
async function ask(url: string, question: string): Promise<unknown> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }),
  });
  try {
    const { rows } = await sql<Record<string, unknown>>`${sql.raw(question)}`.execute(db);
    return Object.values(rows[0] ?? {})[0];
  } finally {
    await db.destroy();
  }
}

async function bytesIn(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += (await stat(join(entry.parentPath, entry.name))).blocks * 512;
  }
  return sum;
}
