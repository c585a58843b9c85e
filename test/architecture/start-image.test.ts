import { Kysely, sql } from 'kysely';
import { expect, test } from 'vitest';
import pglite from '../../node_modules/@electric-sql/pglite/package.json' with { type: 'json' };
import { MIGRATIONS } from '../../src/adapters/store/migrations/index.ts';
import { pgliteDialect, startPglite, unpackStartImage } from '../../src/adapters/store/open-pglite-store.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('[PACK-2] the start image matches the installed PGlite and has every migration; otherwise run "npm run bake:store"', async () => {
  const cluster = `${await temporaryDir()}/pg`;
  await unpackStartImage(cluster);
  const db = new Kysely<unknown>({ dialect: pgliteDialect(await startPglite(cluster)) });
  const { rows: applied } = await sql<{
    name: string;
  }>`select name from kysely_migration order by name`.execute(db);
  expect(applied.map(({ name }) => name)).toEqual(Object.keys(MIGRATIONS));
  const { rows } = await sql<{ version: string }>`select version() as version`.execute(db);
  expect(rows[0]?.version).toContain(`PGlite ${pglite.version}`);
  await db.destroy();
});
