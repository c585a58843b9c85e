import { createHash } from 'node:crypto';
import { lstat, realpath, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { readTextFile, writeFileWhole } from './text-file.ts';

export interface ConfigSource {
  /** Value of `--config`. */
  readonly file?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's home folder, if not the system's. */
  readonly home?: string;
  /** Value of `--data`. */
  readonly data?: string;
  /** `file` was found in the current folder, not named by the user. */
  readonly isFound?: boolean;
}

export interface FoundConfig {
  readonly file: string;
  /** Found in the current folder, not named by the user, so somebody else may have written it. */
  readonly isFound: boolean;
}

/** `--data`, else PML_DATA, else ~/.pml. */
export function dataDir({ data, env, cwd, home = homedir() }: ConfigSource): string {
  return resolve(cwd, data ?? (env.PML_DATA || join(home, '.pml')));
}

/**
 * `--config`, else PML_CONFIG, else pml.json in the current folder, else pml.json in the data folder, else
 * null. A file that was named is returned even if it does not exist.
 */
export async function findConfig(source: ConfigSource): Promise<FoundConfig | null> {
  const { isFound = false } = source;
  const named = source.file ?? (source.env.PML_CONFIG || undefined);
  if (named !== undefined) return { file: resolve(source.cwd, named), isFound };
  const own = dataDir(source);
  for (const folder of [source.cwd, own]) {
    const file = join(folder, 'pml.json');
    // A dangling link counts: an error is better than silently skipping it.
    if (await lstat(file).catch(() => null)) return { file, isFound: resolve(folder) !== own };
  }
  return null;
}

/** In the data folder: path and content hash of each trusted file. */
const FILE = 'trusted.json';

/**
 * A `pml.json` found in the current folder may come from anybody, and it names programs to run. It is used
 * only if the user has trusted exactly this content.
 */
export async function requireTrust(dataDir: string, file: string, bytes: Buffer): Promise<void> {
  const known = (await readRegistry(dataDir))[await placeOf(file)];
  if (known === hashOf(bytes)) return;
  const why = known === undefined ? 'is not trusted' : 'has changed since it was trusted';
  throw new PmlError('config_untrusted', `${file} ${why}, so it is not used`, {
    hint: `It can start programs. Read it, then run: pml trust ${file}. To use another file, give --config FILE.`,
  });
}

export async function trustFile(dataDir: string, file: string, bytes: Buffer): Promise<void> {
  const place = await placeOf(file);
  await writeRegistry(dataDir, { ...(await readRegistry(dataDir)), [place]: hashOf(bytes) });
  // Touches the file, so that a running gateway that watches it reads it again.
  const now = new Date();
  await utimes(place, now, now).catch(() => {});
}

/** Returns false if it was not trusted. */
export async function revokeTrust(dataDir: string, file: string): Promise<boolean> {
  const { [await placeOf(file)]: known, ...others } = await readRegistry(dataDir);
  if (known === undefined) return false;
  await writeRegistry(dataDir, others);
  return true;
}

async function readRegistry(dataDir: string): Promise<Readonly<Record<string, string>>> {
  const present = await readTextFile(join(dataDir, FILE));
  if (!present) return {};
  try {
    return JSON.parse(present.text);
  } catch (cause) {
    throw new PmlError('data_dir_damaged', `${join(dataDir, FILE)} is not JSON`, {
      hint: 'Remove it, and trust your files again with: pml trust FILE',
      cause,
    });
  }
}

async function writeRegistry(dataDir: string, registry: Readonly<Record<string, string>>): Promise<void> {
  await writeFileWhole(join(dataDir, FILE), Buffer.from(`${JSON.stringify(registry, null, 2)}\n`));
}

/** Resolves links: trust applies to the target. */
async function placeOf(file: string): Promise<string> {
  return await realpath(file).catch(() => file);
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
