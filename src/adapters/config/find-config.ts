import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

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
