import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ConfigSource, dataDir } from '../find-config.ts';
import type { InitOptions } from './plan-init.ts';

export interface Program {
  /** The Node that runs PML. */
  readonly node: string;
  /** Absolute path of `bin/pml.js`. */
  readonly launcher: string;
  readonly now: () => Date;
}

/**
 * What an init on this machine works with. Clients start PML by absolute paths, from any folder and
 * without this shell's variables; so the configuration is said on the command line, and a data folder
 * that is not the default.
 */
export function initOptions(source: ConfigSource, { node, launcher, now }: Program): InitOptions {
  const { env, cwd, home = homedir() } = source;
  const data = dataDir(source);
  const named = source.file ?? (env.PML_CONFIG || undefined);
  const target = named === undefined ? join(data, 'pml.json') : resolve(cwd, named);
  const args = [
    launcher,
    'stdio',
    // Always named: a client starts PML in the project it has open, whose own pml.json is not the user's.
    '--config',
    target,
    ...(data === join(home, '.pml') ? [] : ['--data', data]),
  ];
  return {
    machine: { platform: process.platform, env, home, cwd },
    target,
    launch: { command: node, args },
    ports: [],
    journal: join(data, 'init-journal.json'),
    now,
  };
}
