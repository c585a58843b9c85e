import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { damaged, inspectCluster } from './pglite/cluster-dir.ts';
import { type PgliteClient, startPglite } from './pglite/pglite-client.ts';
import { pgliteDialect } from './pglite/pglite-dialect.ts';
import { unpackStartImage } from './pglite/start-image.ts';
import { voidLeases } from './sql/runs.ts';
import { createSqlStore, type SqlStore } from './sql-store.ts';

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
