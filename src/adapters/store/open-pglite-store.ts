import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import {
  CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely';
import { parseTar } from 'nanotar';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { type PgliteClient, startPglite } from './pglite/pglite-client.ts';
import { voidLeases } from './sql/runs.ts';
import { createSqlStore, type SqlStore } from './sql-store.ts';

/**
 * A freshly initialised cluster, baked once per PGlite version by `npm run bake:store`: unpacking it
 * takes a tenth of the time that initialising one does.
 */
const IMAGE = new URL('../../../assets/pglite-start.tar.zst', import.meta.url);

/** PostgreSQL refuses a cluster that others can read. */
const PRIVATE_DIR = 0o700;

const PRIVATE_FILE = 0o600;

/** Major version of the PostgreSQL inside the bundled PGlite. */
const POSTGRES_MAJOR = 18;

/** Files without which PostgreSQL cannot start; their absence means an interrupted copy or a stray folder. */
const VITAL = ['PG_VERSION', 'global/pg_control', 'base', 'pg_wal'];

/** The caller holds the data dir's lock: PGlite itself does not guard its directory. */
export async function openPgliteStore(dataDir: string): Promise<SqlStore> {
  const cluster = join(dataDir, 'pg');
  if ((await inspectCluster(cluster)) === 'absent') await unpackStartImage(cluster);
  const db = new Kysely<Database>({ dialect: pgliteDialect(await start(cluster)) });
  try {
    await migrate(db, cluster);
    await voidLeases(db);
    // Changes are told to others, and there are none.
    await sql`select set_config('pml.alone', 'on', false)`.execute(db);
    await db.deleteFrom('store_change').execute();
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return createSqlStore(db);
}

async function start(cluster: string): Promise<PgliteClient> {
  try {
    return await startPglite(cluster);
  } catch (error) {
    throw damaged(cluster, (error as Error).message, error);
  }
}

/** Says what is wrong with a cluster before PostgreSQL is let near it; deletes nothing. */
async function inspectCluster(dir: string): Promise<'absent' | 'present'> {
  if (!(await exists(dir))) return 'absent';
  const missing: string[] = [];
  for (const name of VITAL) if (!(await exists(join(dir, name)))) missing.push(name);
  if (missing.length > 0)
    throw damaged(dir, `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} missing`);
  const version = Number.parseInt((await readFile(join(dir, 'PG_VERSION'), 'utf8')).trim(), 10);
  if (version > POSTGRES_MAJOR) {
    throw new PmlError(
      'data_dir_newer',
      `${dir} is a PostgreSQL ${version} cluster; this PML brings PostgreSQL ${POSTGRES_MAJOR}`,
      { hint: 'Update PML, or point --data at another folder. Nothing was changed.' },
    );
  }
  if (version !== POSTGRES_MAJOR) throw damaged(dir, `its PG_VERSION is not ${POSTGRES_MAJOR}`);
  return 'present';
}

function damaged(dir: string, why: string, cause?: unknown): PmlError {
  return new PmlError('data_dir_damaged', `The database in ${dir} cannot be opened: ${why}`, {
    hint: 'Nothing was deleted. Restore the folder from a backup, or move it away to start afresh.',
    cause,
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new PmlError('data_dir_unreadable', `${path} cannot be read: ${(error as Error).message}`, {
      hint: 'Check that you own the folder and that no file has the same name.',
      cause: error,
    });
  }
}

/** Under another name until complete: a process killed here leaves no half-written cluster behind. */
export async function unpackStartImage(cluster: string): Promise<void> {
  const unfinished = `${cluster}.unpacking`;
  await rm(unfinished, { recursive: true, force: true });
  const entries = parseTar(await promisify(zstdDecompress)(await readFile(IMAGE)));
  const folders = new Set(
    entries.map(({ name, type }) => join(unfinished, type === 'directory' ? name : dirname(name))),
  );
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: PRIVATE_DIR });
  const files = entries.filter(({ type }) => type !== 'directory');
  await Promise.all(
    files.map(({ name, data }) =>
      writeFile(join(unfinished, name), data ?? new Uint8Array(), { mode: PRIVATE_FILE }),
    ),
  );
  await rename(unfinished, cluster);
}

/**
 * kysely's own PGlite driver hands out its one connection without waiting, so a query made beside
 * an open transaction lands inside it and is lost when that rolls back. Here a connection is
 * exclusive: while one holds it, others wait.
 */
export function pgliteDialect(client: PgliteClient): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PgliteDriver(client),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db: Kysely<unknown>): DatabaseIntrospector => new PostgresIntrospector(db),
  };
}

class PgliteDriver implements Driver {
  readonly #client: PgliteClient;
  readonly #connection: DatabaseConnection;
  #lastInLine: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  constructor(client: PgliteClient) {
    this.#client = client;
    this.#connection = new PgliteConnection(client);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#lastInLine;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastInLine = promise;
    await before;
    this.#release = resolve;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async destroy(): Promise<void> {
    await this.#client.close();
  }
}

class PgliteConnection implements DatabaseConnection {
  readonly #client: PgliteClient;

  constructor(client: PgliteClient) {
    this.#client = client;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, affectedRows } = await this.#client.query(query.sql, query.parameters);
    return { rows: rows as R[], numAffectedRows: BigInt(affectedRows) };
  }

  streamQuery(): AsyncIterableIterator<QueryResult<never>> {
    throw new Error('PGlite answers whole results; page with limit instead');
  }
}
