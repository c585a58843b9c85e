import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Settings } from '../../engine/ports.ts';
import { collectSecrets } from './collect-secrets.ts';
import { type ConfigSource, dataDir, findConfig } from './find-config.ts';
import { readConfig } from './read-config.ts';
import { configSchema } from './schema.ts';
import { decodeText } from './text-file.ts';
import { toSettings } from './to-settings.ts';
import { requireTrust } from './trusted-files.ts';

/**
 * Finds, reads and checks the configuration; without a file the defaults apply. What was found in the
 * current folder counts only as it was trusted, byte for byte as it is read here.
 */
export async function loadSettings(source: ConfigSource): Promise<Settings> {
  const home = source.home ?? homedir();
  const found = await findConfig(source);
  const { file, isFound } = found ?? { file: null, isFound: false };
  const origin = { file, isFound, cwd: source.cwd, home };
  if (file === null) return toSettings(configSchema.parse({}), { ...origin, secrets: [] });
  const bytes = await readConfigFile(file);
  if (isFound) await requireTrust(dataDir(source), file, bytes);
  const { config, variables } = readConfig(file, decodeText(bytes).text, { env: source.env, home });
  return toSettings(config, { ...origin, secrets: collectSecrets(config, variables) });
}

export async function readConfigFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw unreadable(file, cause as NodeJS.ErrnoException);
  }
}

function unreadable(file: string, cause: NodeJS.ErrnoException): PmlError {
  switch (cause.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new PmlError('config_not_found', `There is no configuration file ${file}`, {
        hint: 'Check --config and PML_CONFIG, or make the file with: pml init',
        cause,
      });
    case 'EISDIR':
      return new PmlError('config_invalid', `${file} is a folder, not a configuration file`, {
        hint: 'Name the file in it, for example --config folder/pml.json',
        cause,
      });
    default:
      return new PmlError('config_invalid', `The configuration file ${file} cannot be read (${cause.code})`, {
        hint: 'Make sure that it is a file and that you may read it.',
        cause,
      });
  }
}
