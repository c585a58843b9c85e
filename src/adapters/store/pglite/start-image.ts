import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { parseTar } from 'nanotar';

/**
 * A freshly initialised cluster, baked once per PGlite version by `npm run bake:store`: unpacking it
 * takes a tenth of the time that initialising one does.
 */
const IMAGE = new URL('../../../../assets/pglite-start.tar.zst', import.meta.url);

/** PostgreSQL refuses a cluster that others can read. */
const PRIVATE_DIR = 0o700;
const PRIVATE_FILE = 0o600;

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
