import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
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

const isLinux = process.platform === 'linux';

test.runIf(isLinux)('[PACK-2] a fresh data folder takes at most 12 MB on disk', async () => {
  const cluster = `${await temporaryDir()}/pg`;
  await unpackStartImage(cluster);
  const names = await readdir(cluster, { recursive: true });
  const files = await Promise.all(names.map((name) => stat(join(cluster, name))));
  // Blocks of 512 bytes, whatever the file system's own are.
  const bytes = files.reduce((sum, { blocks }) => sum + blocks * 512, 0);
  expect(bytes).toBeLessThan(12 * 2 ** 20);
});
