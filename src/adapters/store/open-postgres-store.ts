import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Store } from '../../engine/ports.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { createSqlStore } from './sql-store.ts';

const DEFAULTS = { maxConnections: 8, connectTimeoutMs: 10_000, idleTimeoutMs: 30_000 };

const INT8 = pg.types.builtins.INT8;

export async function openPostgresStore(url: string): Promise<Store> {
  const pool = new pg.Pool({
    connectionString: url,
    max: DEFAULTS.maxConnections,
    connectionTimeoutMillis: DEFAULTS.connectTimeoutMs,
    idleTimeoutMillis: DEFAULTS.idleTimeoutMs,
    application_name: 'pml',
    types: {
      getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
        // Sequence numbers stay far below 2^53.
        oid === INT8
          ? Number
          : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
    },
  });
  // An idle connection that breaks must not take the process down; the next query reports it.
  pool.on('error', () => {});
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  try {
    await migrate(db, `PostgreSQL at ${withoutPassword(url)}`);
  } catch (error) {
    await db.destroy();
    if (error instanceof PmlError) throw error;
    throw new PmlError(
      'store_unavailable',
      `PostgreSQL at ${withoutPassword(url)} does not answer: ${(error as Error).message}`,
      {
        hint: 'Check store.url in the configuration and that the server runs and lets you in.',
        cause: error,
      },
    );
  }
  return createSqlStore(db);
}

function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return '(a url that cannot be read)';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
