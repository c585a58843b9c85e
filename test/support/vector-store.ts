import { PGlite, types } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { Kysely } from 'kysely';
import type { Database } from '../../src/adapters/store/database.ts';
import { migrate } from '../../src/adapters/store/migrations/index.ts';
import { pgliteDialect } from '../../src/adapters/store/open-pglite-store.ts';
import { createSqlStore } from '../../src/adapters/store/sql-store.ts';
import type { Store } from '../../src/engine/ports.ts';

export interface VectorStore {
  readonly db: Kysely<Database>;
  readonly store: Store;
  close(): Promise<void>;
}

/** A store on a database with pgvector, in memory and in this thread. */
export async function openVectorStore(): Promise<VectorStore> {
  const pglite = await PGlite.create({ extensions: { vector }, parsers: { [types.INT8]: Number } });
  await pglite.exec('create extension vector');
  const client = {
    async query(text: string, params: readonly unknown[]) {
      const { rows, affectedRows } = await pglite.query(text, [...params]);
      return { rows, affectedRows: affectedRows ?? 0 };
    },
    close: () => pglite.close(),
  };
  const db = new Kysely<Database>({ dialect: pgliteDialect(client) });
  await migrate(db, 'a database with pgvector');
  const store = createSqlStore(db);
  return { db, store, close: store.close };
}
