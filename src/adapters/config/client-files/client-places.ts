import { posix, win32 } from 'node:path';

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
