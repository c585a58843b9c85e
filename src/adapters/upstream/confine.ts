import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { delimiter, isAbsolute, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { ServerSettings, UpstreamFailure } from '../../engine/ports.ts';
import { UpstreamFault } from './failure.ts';

const DEFAULTS = {
  /** Where the server finds the only folder that it may keep files in. */
  home: '/home/pml',
  /** Milliseconds of a trial. */
  trialMs: 5_000,
};

/** Programs and libraries of the system; nothing of any user. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store'];
/** What programs look up: names, time, certificates, libraries. */
const LOOKED_UP =
  'passwd group nsswitch.conf hosts localtime ld.so.cache ld.so.conf ld.so.conf.d alternatives ssl pki ca-certificates'.split(
    ' ',
  );

type StdioSettings = Extract<ServerSettings, { transport: 'stdio' }>;

export interface ConfinedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
}

/**
 * The command that starts a server, within bubblewrap where its settings ask for that. A server that cannot be confined
 * is not started: a sandbox that is missing must not go unnoticed.
 */
export function confined(settings: StdioSettings, dataDir: string): ConfinedCommand {
  const { name, command, args, env, cwd, sandbox } = settings;
  if (!sandbox) return { command, args, env, cwd };
  const bwrap = programAt('bwrap');
  if (bwrap === null) throw new UpstreamFault(unconfined(name, NO_BWRAP));
  const program = programAt(command, env.PATH);
  // Without one, the error is that of any command that does not exist.
  const own = program === null ? [] : ownFile(program);
  const shown = [...sandbox.read, ...(cwd === null ? [] : [cwd])].flatMap((path) => [
    '--ro-bind-try',
    path,
    path,
  ]);
  const opened = sandbox.write.flatMap((path) => ['--bind-try', path, path]);
  // Tokens lie there: nobody who shows a folder above means that.
  const isAbove = [...sandbox.read, ...sandbox.write, ...(cwd === null ? [] : [cwd])].some((path) =>
    isWithin(dataDir, path),
  );
  return {
    command: bwrap,
    args: [
      '--unshare-all',
      ...(sandbox.network ? ['--share-net'] : []),
      ...['--die-with-parent', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
      ...SYSTEM.flatMap(systemPath),
      ...LOOKED_UP.flatMap((file) => ['--ro-bind-try', `/etc/${file}`, `/etc/${file}`]),
      ...(sandbox.network ? resolver() : []),
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--dir', '/var/tmp'],
      ...homeOf(settings, dataDir),
      ...own,
      ...shown,
      ...opened,
      ...(isAbove ? ['--tmpfs', dataDir] : []),
      ...['--remount-ro', '/', '--chdir', cwd ?? DEFAULTS.home, '--', program ?? command, ...args],
    ],
    env: { ...env, HOME: DEFAULTS.home, TMPDIR: '/tmp' },
    cwd: null,
  };
}

/** A folder of the data folder, kept; where users do not share a process, one that goes with the process. */
function homeOf({ name, isolation, credentials }: StdioSettings, dataDir: string): string[] {
  if (isolation !== undefined || credentials !== undefined) return ['--tmpfs', DEFAULTS.home];
  const folder = join(dataDir, 'sandboxes', name);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return ['--bind', folder, DEFAULTS.home];
}

/** A link of the root stays a link: `/bin` to `/usr/bin`. */
function systemPath(path: string): string[] {
  if (!existsSync(path)) return [];
  return lstatSync(path).isSymbolicLink()
    ? ['--symlink', readlinkSync(path), path]
    : ['--ro-bind', path, path];
}

/** Often a link to a folder that is not shown. */
function resolver(): string[] {
  const file = '/etc/resolv.conf';
  return existsSync(file) ? ['--ro-bind', realpathSync(file), file] : [];
}

/** Only the program itself: what lies beside it may be the user's. */
function ownFile(program: string): string[] {
  const real = realpathSync(program);
  return [...new Set([real, program])]
    .filter((path) => !SYSTEM.some((folder) => isWithin(path, folder)))
    .flatMap((path) => ['--ro-bind', real, path]);
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

function programAt(command: string, path = process.env.PATH ?? ''): string | null {
  const places = isAbsolute(command)
    ? [command]
    : path.split(delimiter).map((folder) => join(folder, command));
  return places.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const NO_BWRAP = 'bubblewrap (bwrap) is not installed';

/** Why this system cannot confine servers; null if it can. */
export async function sandboxProblem(): Promise<string | null> {
  const bwrap = programAt('bwrap');
  if (bwrap === null) return NO_BWRAP;
  try {
    const trial = [
      '--unshare-all',
      '--ro-bind',
      '/',
      '/',
      '--proc',
      '/proc',
      '--',
      '/bin/sh',
      '-c',
      'exit 0',
    ];
    await promisify(execFile)(bwrap, trial, { timeout: DEFAULTS.trialMs });
    return null;
  } catch (error) {
    const said = String((error as { stderr?: unknown }).stderr ?? '').trim();
    return `bubblewrap does not work here: ${said.split('\n', 1)[0] || (error as Error).message.split('\n', 1)[0]}`;
  }
}

function unconfined(server: string, why: string): UpstreamFailure {
  return {
    code: 'upstream_unavailable',
    errorType: 'PERMISSION',
    message: `Server "${server}" is not started, because it cannot be confined: ${why}`,
    hint: 'Install it, for example with "apt install bubblewrap", or remove "sandbox" from the server.',
  };
}
