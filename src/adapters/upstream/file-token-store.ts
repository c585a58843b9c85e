import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { JsonObject, TokenStore } from '../../engine/ports.ts';

/** Stores logins in one file of the data folder, readable by its owner only. */
export function fileTokenStore(dataDir: string): TokenStore {
  const file = join(dataDir, 'logins.json');
  // Writes are serialized: each reads and rewrites the whole file.
  let turn: Promise<unknown> = Promise.resolve();

  const update = (change: (logins: Record<string, JsonObject>) => void): Promise<void> => {
    const next = turn.then(async () => {
      const logins = await read(file);
      change(logins);
      await write(file, logins);
    });
    turn = next.catch(() => undefined);
    return next;
  };

  return {
    get: async (server) => (await read(file))[server] ?? null,
    set: (server, credentials) =>
      update((logins) => {
        logins[server] = credentials;
      }),
    delete: (server) =>
      update((logins) => {
        delete logins[server];
      }),
  };
}

async function read(file: string): Promise<Record<string, JsonObject>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    return JSON.parse(text) as Record<string, JsonObject>;
  } catch (cause) {
    throw new PmlError('data_dir_damaged', `${file} is not JSON`, {
      cause,
      hint: 'Delete it and log in again with `pml servers login NAME`.',
    });
  }
}

async function write(file: string, logins: Record<string, JsonObject>): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await rm(`${file}.new`, { force: true });
  await writeFile(`${file}.new`, JSON.stringify(logins, null, 2), { mode: 0o600 });
  await rename(`${file}.new`, file);
}
