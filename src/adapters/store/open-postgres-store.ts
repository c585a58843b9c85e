import { setTimeout } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Database } from './database.ts';
import { migrate } from './migrations/index.ts';
import { createSqlStore, type SqlStore } from './sql-store.ts';

const DEFAULTS = {
  pool: 8,
  /** Milliseconds to wait for a connection from the pool or the server. */
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 30_000,
  statementTimeoutMs: 30_000,
  /** Milliseconds to wait for the server to end the connections: one that has disappeared never does. */
  endMs: 2_000,
};

export interface PostgresOptions {
  /** Application name of this gateway's connections, seen by the server and other gateways. */
  readonly name?: string;
  /** Maximum number of connections. */
  readonly pool?: number;
  /** Maximum time of one statement, in milliseconds. */
  readonly statementTimeoutMs?: number;
}

const INT8 = pg.types.builtins.INT8;

export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<SqlStore> {
  const { name = 'pml', pool = DEFAULTS.pool, statementTimeoutMs = DEFAULTS.statementTimeoutMs } = options;
  // Without a statement timeout: a migration may take long.
  const migrating = connect(url, { max: 1, application_name: name });
  try {
    await migrate(migrating, `PostgreSQL at ${withoutPassword(url)}`);
  } catch (error) {
    if (error instanceof PmlError) throw error;
    throw new PmlError(
      'store_unavailable',
      `PostgreSQL at ${withoutPassword(url)} is not available: ${(error as Error).message}`,
      {
        hint: 'Check store.url in the configuration and that the server is running and accepts your login.',
        cause: error,
      },
    );
  } finally {
    await migrating.destroy();
  }
  return createSqlStore(
    connect(url, {
      max: pool,
      application_name: name,
      statement_timeout: statementTimeoutMs,
      // Also detects a server that has silently disappeared.
      query_timeout: statementTimeoutMs + DEFAULTS.connectTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
      keepAlive: true,
    }),
  );
}

function connect(url: string, limits: pg.PoolConfig): Kysely<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: DEFAULTS.connectTimeoutMs,
    idleTimeoutMillis: DEFAULTS.idleTimeoutMs,
    ...limits,
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        // Sequence numbers stay far below 2^53.
        oid === INT8
          ? Number
          : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  });
  // A broken connection must not crash the process, whether idle or between two statements of a transaction;
  // the next query reports it.
  pool.on('error', () => {});
  const open = new Set<Promise<void>>();
  pool.on('connect', (client) => {
    client.on('error', () => {});
    const ended = new Promise<void>((resolve) => client.once('end', resolve)).finally(() =>
      open.delete(ended),
    );
    open.add(ended);
  });
  const whole = {
    options: pool.options,
    connect: () => pool.connect(),
    // The pool itself ends before its connections do: who asks the server next would find them there.
    async end() {
      await pool.end();
      await Promise.race([Promise.all(open), setTimeout(DEFAULTS.endMs, undefined, { ref: false })]);
    },
  };
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: whole }) });
}

function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return '(an invalid URL)';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
