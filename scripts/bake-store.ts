/**
 * `npm run bake:store` writes assets/pglite-start.tar.zst: a fresh cluster of the installed PGlite with
 * every migration applied. Needed after each new version of PGlite and each migration; a test checks this.
 */
import { writeFile } from 'node:fs/promises';
import { constants, zstdCompressSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';
import { Kysely } from 'kysely';
import { migrate } from '../src/adapters/store/migrations/index.ts';
import { pgliteDialect } from '../src/adapters/store/open-pglite-store.ts';

// A segment of the log that is done with is deleted, not kept for later.
const db = await PGlite.create({ startParams: [...PGlite.defaultStartParams, '-c', 'wal_recycle=off'] });
const client = {
  async query(sql: string, params: readonly unknown[]) {
    const { rows, affectedRows } = await db.query(sql, [...params]);
    return { rows, affectedRows: affectedRows ?? 0 };
  },
  close: () => db.close(),
};
await migrate(new Kysely<unknown>({ dialect: pgliteDialect(client) }), 'the start image');
// Two thirds of a cluster are databases to copy others from, and this one gets no others.
await db.query('update pg_database set datistemplate = false');
for (const unused of ['template0', 'template1']) await db.query(`drop database ${unused}`);
// A new segment of the log: the old one holds what the migrations wrote, which a checkpoint makes superfluous.
await db.query('select pg_switch_wal()');
await db.query('checkpoint');
const tar = await (await db.dumpDataDir('none')).bytes();
await db.close();
const image = zstdCompressSync(tar, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
const target = new URL('../assets/pglite-start.tar.zst', import.meta.url);
await writeFile(target, image);
console.log(`${target.pathname}: ${image.length} bytes (${tar.length} unpacked)`);
