import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PmlError } from '../../core/vocabulary/pml-error.ts';

const DEFAULTS = { tokenBytes: 32 };

/** Made if it is not there, for its owner alone: it holds the token and everything learned. */
export async function ensureDataDir(dir: string): Promise<void> {
  await readable(dir, () => mkdir(dir, { recursive: true, mode: 0o700 }));
}

/** The secret that lets a program talk to the gateway; made on first use, readable by its owner alone. */
export async function readToken(dir: string): Promise<string> {
  const file = join(dir, 'token');
  const existing = await readIfThere(file);
  if (existing) return existing.trim();
  const fresh = randomBytes(DEFAULTS.tokenBytes).toString('base64url');
  try {
    await readable(file, () => writeFile(file, `${fresh}\n`, { mode: 0o600, flag: 'wx' }));
  } catch (error) {
    // Another process made it in the meantime: that one counts.
    const theirs = await readIfThere(file);
    if (theirs) return theirs.trim();
    throw error;
  }
  await chmod(file, 0o600);
  return fresh;
}

/** A small file of the data dir, its owner's alone; written whole or not at all. */
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
    hint: 'Check that you own the folder and that no file has the same name, or choose another with --data.',
    cause: error,
  });
}
