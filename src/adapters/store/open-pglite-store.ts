import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
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
import type { ChangeFeed, TrainerLock } from '../../engine/ports.ts';
import type { Database } from './database.ts';
import { migrate } from './migrations/index.ts';
import type { WireError, WorkerReply, WorkerRequest } from './pglite/pglite-worker.ts';
import { voidLeases } from './sql/runs.ts';
import { createSqlStore, type SqlStore } from './sql-store.ts';

/**
 * A freshly initialised cluster, created once per PGlite version by `npm run bake:store`: unpacking it takes
 * a tenth of the time of initialising one.
 */
const IMAGE = new URL('../../../assets/pglite-start.tar.zst', import.meta.url);

/** PostgreSQL refuses a cluster that other users can read. */
const PRIVATE_DIR = 0o700;

const PRIVATE_FILE = 0o600;

/** Bytes. Files of this size may end with much that is empty; it is looked for in blocks. */
const SPARSE_FROM = 1024 * 1024;
const BLOCK = 8 * 1024;

/** Major version of the PostgreSQL inside the bundled PGlite. */
const POSTGRES_MAJOR = 18;

/**
 * Files PostgreSQL needs to start; if any is missing, a copy was interrupted or the folder is something else.
 */
const VITAL = ['PG_VERSION', 'global/pg_control', 'base', 'pg_wal'];

/** The caller holds the data folder's lock: PGlite itself does not lock its directory. */
export async function openPgliteStore(dataDir: string): Promise<SqlStore> {
  const cluster = join(dataDir, 'pg');
  if ((await inspectCluster(cluster)) === 'absent') await unpackStartImage(cluster);
  const db = new Kysely<Database>({ dialect: pgliteDialect(await start(cluster)) });
  try {
    await migrate(db, cluster);
    await voidLeases(db);
    // No other gateway uses this store, so no change notifications are written.
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

/** Checks a cluster before PostgreSQL opens it; deletes nothing. */
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
      `${dir} is a PostgreSQL ${version} cluster; this PML contains PostgreSQL ${POSTGRES_MAJOR}`,
      { hint: 'Update PML, or choose another folder with --data. Nothing was changed.' },
    );
  }
  if (version !== POSTGRES_MAJOR) throw damaged(dir, `its PG_VERSION is not ${POSTGRES_MAJOR}`);
  return 'present';
}

function damaged(dir: string, why: string, cause?: unknown): PmlError {
  return new PmlError('data_dir_damaged', `The database in ${dir} cannot be opened: ${why}`, {
    hint: 'Nothing was deleted. Restore the folder from a backup, or move it away to start with an empty one.',
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

/** Uses a temporary name until complete: a process killed here leaves no half-written cluster. */
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
    files.map(({ name, data = new Uint8Array() }) =>
      data.length < SPARSE_FROM
        ? writeFile(join(unfinished, name), data, { mode: PRIVATE_FILE })
        : writeSparse(join(unfinished, name), data),
    ),
  );
  await rename(unfinished, cluster);
}

/** Without the zeros at its end: of the log's 16 MB hardly anything is written yet. */
async function writeSparse(path: string, data: Uint8Array): Promise<void> {
  const zeros = new Uint8Array(BLOCK);
  let end = data.length;
  while (end >= BLOCK && Buffer.compare(data.subarray(end - BLOCK, end), zeros) === 0) end -= BLOCK;
  const file = await open(path, 'w', PRIVATE_FILE);
  try {
    await file.writeFile(data.subarray(0, end));
    await file.truncate(data.length);
  } finally {
    await file.close();
  }
}

/**
 * kysely's own PGlite driver does not serialize its single connection, so a query made during an open
 * transaction becomes part of it and is lost if that rolls back. Here a connection is exclusive: others wait
 * until it is released.
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
    throw new Error('PGlite cannot stream results; use limit instead');
  }
}

export interface QueryRows {
  readonly rows: unknown[];
  readonly affectedRows: number;
}

/** The calling side: numbers each request and matches it with its response. */
export interface PgliteClient {
  query(sql: string, params: readonly unknown[]): Promise<QueryRows>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(reply: WorkerReply): void;
  reject(error: Error): void;
}

const WORKER = new URL('./pglite/pglite-worker.ts', import.meta.url);

/** Of the thread's heap, for what lives briefly: queries and rows. By itself the engine takes more, and keeps it. */
const YOUNG_MEGABYTES = 8;

export async function startPglite(dataDir: string): Promise<PgliteClient> {
  const worker = new Worker(WORKER, {
    workerData: dataDir,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  const waiting = new Map<number, Waiting>();
  let nextId = 0;
  let dead: Error | null = null;

  const die = (error: Error) => {
    dead ??= error;
    for (const { reject } of waiting.values()) reject(dead);
    waiting.clear();
  };

  await new Promise<void>((resolve, reject) => {
    worker.on('message', (reply: WorkerReply) => {
      if (reply.kind === 'ready') return resolve();
      if (reply.kind === 'failed') return reject(toError(reply.error));
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (reply.kind === 'error') asked?.reject(toError(reply.error));
      else asked?.resolve(reply);
    });
    worker.on('error', (error) => {
      die(error as Error);
      reject(error as Error);
    });
    worker.on('exit', (code) => {
      const error = new PmlError('store_unavailable', `The database thread ended (exit code ${code})`, {
        hint: 'Restart PML; all acknowledged changes are on disk.',
      });
      die(error);
      reject(error);
    });
  }).catch(async (error: unknown) => {
    await worker.terminate();
    throw error;
  });

  const ask = (message: WorkerRequest) =>
    new Promise<WorkerReply>((resolve, reject) => {
      if (dead) return reject(dead);
      waiting.set(message.id, { resolve, reject });
      worker.postMessage(message);
    });

  return {
    async query(sql, params) {
      const reply = await ask({ id: nextId++, kind: 'query', sql, params });
      return reply as WorkerReply & { kind: 'rows' };
    },
    async close() {
      if (!dead) await ask({ id: nextId++, kind: 'close' });
      await worker.terminate();
    },
  };
}

/** Keeps the SQLSTATE, which distinguishes a conflict from a failure. */
function toError(wire: WireError): Error {
  return Object.assign(new Error(wire.message), wire.code !== undefined && { code: wire.code });
}

/** For a gateway that is alone on its store: no changes from others, and the trainer lock at once. */
export function soleGateway(): { readonly changes: ChangeFeed; readonly trainerLock: TrainerLock } {
  return {
    changes: { follow: () => () => {} },
    trainerLock: { isHeld: () => true, seek: () => {}, claim: async () => true, onChange: () => () => {} },
  };
}
