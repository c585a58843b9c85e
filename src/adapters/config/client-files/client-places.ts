import { existsSync } from 'node:fs';
import { basename, dirname, posix, resolve, win32 } from 'node:path';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { recogniseForm } from '../client-form.ts';
import { parseSource } from '../source-text.ts';
import { readTextFile } from '../text-file.ts';

export const CLIENTS = ['claude', 'cursor', 'vscode', 'codex'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** One list of servers that a client reads. A file may hold several. */
export interface ClientPlace {
  /** Null for a file that no known client is known to read. */
  readonly client: ClientName | null;
  /** How people call it. */
  readonly label: string;
  readonly file: string;
  readonly format: 'json' | 'toml';
  /** Keys that lead to the servers. */
  readonly path: readonly string[];
  /** The project's folder, where its servers start; null for what holds in every folder. */
  readonly project: string | null;
  /** What the client fills in; `none` takes `${X}` literally. */
  readonly variables: 'none' | 'shell' | 'editor';
  /** Whether an entry for PML belongs here; else another place of the client has it. */
  readonly wired: boolean;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/** Everywhere the known clients may keep servers, for a person in `cwd`. */
export function clientPlaces(machine: Machine): ClientPlace[] {
  const { env, home, cwd, platform } = machine;
  const { join } = platform === 'win32' ? win32 : posix;
  const claudeCode = join(env.CLAUDE_CONFIG_DIR || home, '.claude.json');
  const codexHome = env.CODEX_HOME || join(home, '.codex');
  return [
    ...claudeDesktopFiles(machine).map((file) =>
      place('claude', 'Claude Desktop', file, { variables: 'none' }),
    ),
    place('claude', 'Claude Code', claudeCode, { variables: 'shell' }),
    place('claude', 'Claude Code (this folder)', claudeCode, {
      variables: 'shell',
      path: ['projects', cwd, 'mcpServers'],
      project: cwd,
      wired: false,
    }),
    place('claude', 'Claude Code (project)', join(cwd, '.mcp.json'), { variables: 'shell', project: cwd }),
    place('cursor', 'Cursor', join(home, '.cursor', 'mcp.json')),
    place('cursor', 'Cursor (project)', join(cwd, '.cursor', 'mcp.json'), { project: cwd }),
    ...['Code', 'Code - Insiders'].map((product) =>
      place(
        'vscode',
        product === 'Code' ? 'VS Code' : 'VS Code Insiders',
        join(appFolder(machine), product, 'User', 'mcp.json'),
        { path: ['servers'] },
      ),
    ),
    place('vscode', 'VS Code (project)', join(cwd, '.vscode', 'mcp.json'), {
      path: ['servers'],
      project: cwd,
    }),
    codex('Codex', join(codexHome, 'config.toml'), null),
    codex('Codex (project)', join(cwd, '.codex', 'config.toml'), cwd),
  ];
}

function place(
  client: ClientName,
  label: string,
  file: string,
  more: Partial<Pick<ClientPlace, 'path' | 'project' | 'variables' | 'wired'>> = {},
): ClientPlace {
  return {
    client,
    label,
    file,
    format: 'json',
    path: ['mcpServers'],
    project: null,
    variables: 'editor',
    wired: true,
    ...more,
  };
}

function codex(label: string, file: string, project: string | null): ClientPlace {
  const at = place('codex', label, file, { path: ['mcp_servers'], project, variables: 'none' });
  return { ...at, format: 'toml' };
}

/** Where programs with a window keep their settings. */
function appFolder({ platform, env, home }: Machine): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA || win32.join(home, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || posix.join(home, '.config');
}

function claudeDesktopFiles(machine: Machine): string[] {
  const { platform, env, home } = machine;
  const { join } = platform === 'win32' ? win32 : posix;
  const usual = join(appFolder(machine), 'Claude', 'claude_desktop_config.json');
  if (platform !== 'win32') return [usual];
  // What the Microsoft Store installs sees a private copy of AppData.
  const local = env.LOCALAPPDATA || join(home, 'AppData', 'Local');
  const packaged = join(local, 'Packages', 'Claude_pzs8sxrjxfjjc', 'LocalCache', 'Roaming', 'Claude');
  return [usual, join(packaged, 'claude_desktop_config.json')];
}

/** The places that `--from` names: those of one client, those of one file, or without it all there are. */
export async function selectPlaces(machine: Machine, from: string | undefined): Promise<ClientPlace[]> {
  const all = clientPlaces(machine);
  if (from === undefined) {
    const found = all.filter(({ file }) => existsSync(file));
    if (found.length === 0) throw nothingFound('any MCP client', all);
    return found;
  }
  if (isClient(from)) return placesOf(from, all);
  const file = resolve(machine.cwd, from);
  const known = all.filter((place) => place.file === file);
  return known.length > 0 && existsSync(file) ? known : [await unknownFile(file, from)];
}

/** A client that is installed but has no file yet gets one. */
function placesOf(client: ClientName, all: readonly ClientPlace[]): ClientPlace[] {
  const places = all.filter((place) => place.client === client);
  const found = places.filter(({ file }) => existsSync(file));
  if (found.length > 0) return found;
  const installed = places.filter(
    ({ file, project, label }) => project === null && label !== 'Claude Code' && existsSync(dirname(file)),
  );
  if (installed.length === 0) throw nothingFound(client, places);
  return installed;
}

async function unknownFile(file: string, written: string): Promise<ClientPlace> {
  const present = await readTextFile(file);
  if (!present) {
    throw new PmlError('usage', `"${written}" is neither a client nor a file`, {
      hint: `Clients are ${CLIENTS.join(', ')}; a file is given by its path.`,
    });
  }
  const common = {
    client: null,
    label: basename(file),
    file,
    project: projectOf(file),
    wired: true,
  } as const;
  if (file.endsWith('.toml')) return { ...common, format: 'toml', path: ['mcp_servers'], variables: 'none' };
  const form = recogniseForm(file, parseSource(file, present.text).root);
  if (form.ours) {
    throw new PmlError('usage', `${file} is PML's own configuration, not a client's`, {
      hint: 'Use it with --config.',
    });
  }
  const path = (form.servers ?? ['mcpServers']).map(String);
  return { ...common, format: 'json', path, variables: 'editor' };
}

function projectOf(file: string): string | null {
  const folder = dirname(file);
  if (basename(file) === '.mcp.json') return folder;
  return ['.vscode', '.cursor', '.codex'].includes(basename(folder)) ? dirname(folder) : null;
}

function isClient(text: string): text is ClientName {
  return (CLIENTS as readonly string[]).includes(text);
}

function nothingFound(what: string, places: readonly ClientPlace[]): PmlError {
  const looked = [...new Set(places.map(({ file }) => file))];
  return new PmlError('not_found', `No configuration of ${what} was found`, {
    hint: `PML looked for ${looked.join(', ')}. Name another file with --from FILE.`,
  });
}
