import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Settings } from '../../engine/ports.ts';
import { collectSecrets } from './collect-secrets.ts';
import { type ConfigSource, findConfig } from './find-config.ts';
import { readConfig } from './read-config.ts';
import { configSchema } from './schema.ts';
import { decodeText } from './text-file.ts';
import { toSettings } from './to-settings.ts';

/** Finds, reads and checks the configuration; without a file the defaults apply. */
export async function loadSettings(source: ConfigSource): Promise<Settings> {
  const home = source.home ?? homedir();
  const file = await findConfig(source);
  const origin = { file, cwd: source.cwd, home };
  if (file === null) return toSettings(configSchema.parse({}), { ...origin, secrets: [] });
  const { config, variables } = readConfig(file, await readText(file), { env: source.env, home });
  return toSettings(config, { ...origin, secrets: collectSecrets(config, variables) });
}

async function readText(file: string): Promise<string> {
  try {
    return decodeText(await readFile(file)).text;
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
