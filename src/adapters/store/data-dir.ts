import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PmlError } from '../../core/vocabulary/pml-error.ts';

const DEFAULTS = { tokenBytes: 32 };

/** Creates the directory, accessible to its owner only: it contains the token and everything learned. */
export async function ensureDataDir(dir: string): Promise<void> {
  await readable(dir, () => mkdir(dir, { recursive: true, mode: 0o700 }));
}

/** The token that programs use to talk to the gateway; created on first use, readable by its owner only. */
export async function readToken(dir: string): Promise<string> {
  const file = join(dir, 'token');
  const existing = await readIfThere(file);
  if (existing) return existing.trim();
  const fresh = randomBytes(DEFAULTS.tokenBytes).toString('base64url');
  try {
    await readable(file, () => writeFile(file, `${fresh}\n`, { mode: 0o600, flag: 'wx' }));
  } catch (error) {
    // Another process created it in the meantime: use that one.
    const theirs = await readIfThere(file);
    if (theirs) return theirs.trim();
    throw error;
  }
  await chmod(file, 0o600);
  return fresh;
}

/** A small file in the data folder, accessible to its owner only, written atomically. */
export function dataFile(dir: string, name: string) {
  const file = join(dir, name);
  return {
    read: () => readIfThere(file),
    async write(text: string): Promise<void> {
      const unfinished = `${file}.${process.pid}.tmp`;
      await readable(file, async () => {
        await writeFile(unfinished, text, { mode: 0o600 });
        await rename(unfinished, file);
      });
    },
  };
}

export async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(file, error);
  }
}

async function readable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): PmlError {
  return new PmlError('data_dir_unreadable', `${path} cannot be used: ${(error as Error).message}`, {
    hint: 'Check that you own the folder and that no file has the same name, or choose another folder with --data.',
    cause: error,
  });
}
