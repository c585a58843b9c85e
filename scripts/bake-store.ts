/** Writes assets/pglite-start.tar.zst: a freshly initialised cluster of the installed PGlite. */
import { writeFile } from 'node:fs/promises';
import { constants, zstdCompressSync } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';

const db = await PGlite.create();
await db.query('checkpoint');
const tar = await (await db.dumpDataDir('none')).bytes();
await db.close();
const image = zstdCompressSync(tar, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
const target = new URL('../assets/pglite-start.tar.zst', import.meta.url);
await writeFile(target, image);
console.log(`${target.pathname}: ${image.length} bytes (${tar.length} unpacked)`);
