import { createHash } from 'node:crypto';
import { lstat, realpath, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { readTextFile, writeFileWhole } from './text-file.ts';

export interface ConfigSource {
  /** What `--config` says. */
  readonly file?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The user's home folder, if not the one the system names. */
  readonly home?: string;
  /** What `--data` says. */
  readonly data?: string;
  /** `file` was not named by anybody, but found in the current folder before. */
  readonly isFound?: boolean;
}

export interface FoundConfig {
  readonly file: string;
  /** Nobody named it: it lies in the current folder, which may be anybody's. */
  readonly isFound: boolean;
}

/** `--data`, else PML_DATA, else ~/.pml. */
export function dataDir({ data, env, cwd, home = homedir() }: ConfigSource): string {
  return resolve(cwd, data ?? (env.PML_DATA || join(home, '.pml')));
}

/**
 * `--config`, else PML_CONFIG, else pml.json here, else pml.json in the data folder; null when there
 * is none. A file that was named is given back even when it does not exist.
 */
export async function findConfig(source: ConfigSource): Promise<FoundConfig | null> {
  const { isFound = false } = source;
  const named = source.file ?? (source.env.PML_CONFIG || undefined);
  if (named !== undefined) return { file: resolve(source.cwd, named), isFound };
  const own = dataDir(source);
  for (const folder of [source.cwd, own]) {
    const file = join(folder, 'pml.json');
    // A link that leads nowhere counts: saying so is better than passing it over.
    if (await lstat(file).catch(() => null)) return { file, isFound: resolve(folder) !== own };
  }
  return null;
}

/** In the data folder: the path of each trusted file, and the hash of what was in it. */
const FILE = 'trusted.json';

/**
 * A `pml.json` that merely lies in the current folder may be anybody's, and it names programs to run.
 * It counts only with the content that its user has trusted.
 */
export async function requireTrust(dataDir: string, file: string, bytes: Buffer): Promise<void> {
  const known = (await readRegistry(dataDir))[await placeOf(file)];
  if (known === hashOf(bytes)) return;
  const why = known === undefined ? 'is not trusted' : 'changed since it was trusted';
  throw new PmlError('config_untrusted', `${file} ${why}, so nothing in it is used`, {
    hint: `It can start programs. Read it, then run: pml trust ${file}. To use another file, name it with --config.`,
  });
}

export async function trustFile(dataDir: string, file: string, bytes: Buffer): Promise<void> {
  const place = await placeOf(file);
  await writeRegistry(dataDir, { ...(await readRegistry(dataDir)), [place]: hashOf(bytes) });
  // A gateway that runs watches the file: it looks again.
  const now = new Date();
  await utimes(place, now, now).catch(() => {});
}

/** False when it was not trusted. */
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

/** Where a link leads counts, not how it is called. */
async function placeOf(file: string): Promise<string> {
  return await realpath(file).catch(() => file);
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
