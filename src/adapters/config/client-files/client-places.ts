import { posix, win32 } from 'node:path';
import type { Dialect, Variables } from './client-dialects.ts';
import type { FileFormat } from './servers-format.ts';

export const CLIENTS = [
  'claude',
  'cursor',
  'vscode',
  'codex',
  'gemini',
  'windsurf',
  'zed',
  'opencode',
  'cline',
  'copilot',
  'goose',
] as const;
export type ClientName = (typeof CLIENTS)[number];

/** One list of servers in a client's file; a file may have several. */
export interface ClientPlace {
  /** Null for a file that belongs to no known client. */
  readonly client: ClientName | null;
  /** Name shown to people. */
  readonly label: string;
  readonly file: string;
  readonly format: FileFormat;
  /** How the client writes a server. */
  readonly dialect: Dialect;
  /** Keys that lead to the list. */
  readonly path: readonly string[];
  /** The project's folder, where its servers start; null for a list that applies everywhere. */
  readonly project: string | null;
  readonly variables: Variables;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/** All lists that the known clients may read when used in `cwd`. */
export function clientPlaces(machine: Machine): ClientPlace[] {
  const { env, home, cwd, platform } = machine;
  const { join } = platform === 'win32' ? win32 : posix;
  const claudeCode = join(env.CLAUDE_CONFIG_DIR || home, '.claude.json');
  const project = cwd;
  const shell = { variables: 'shell', dialect: 'claude-code' } as const;
  const vscode = { path: ['servers'], dialect: 'vscode' } as const;
  const codex = { format: 'toml', path: ['mcp_servers'], variables: 'none', dialect: 'codex' } as const;
  const gemini = { variables: 'dollar', dialect: 'gemini' } as const;
  const zed = { path: ['context_servers'], variables: 'none', dialect: 'zed' } as const;
  const opencode = { path: ['mcp'], variables: 'opencode', dialect: 'opencode' } as const;
  const goose = { format: 'yaml', path: ['extensions'], variables: 'shell', dialect: 'goose' } as const;
  const copilot = { variables: 'dollar', dialect: 'copilot' } as const;
  return [
    ...claudeDesktopFiles(machine).map((file) =>
      place('claude', 'Claude Desktop', file, { variables: 'none' }),
    ),
    place('claude', 'Claude Code', claudeCode, shell),
    place('claude', 'Claude Code (this folder)', claudeCode, {
      ...shell,
      path: ['projects', cwd, 'mcpServers'],
      project,
    }),
    place('claude', 'Claude Code (project)', join(cwd, '.mcp.json'), { ...shell, project }),
    place('cursor', 'Cursor', join(home, '.cursor', 'mcp.json')),
    place('cursor', 'Cursor (project)', join(cwd, '.cursor', 'mcp.json'), { project }),
    ...EDITORS.map(([product, label]) =>
      place('vscode', label, join(appFolder(machine), product, 'User', 'mcp.json'), vscode),
    ),
    place('vscode', 'VS Code (project)', join(cwd, '.vscode', 'mcp.json'), { ...vscode, project }),
    place('codex', 'Codex', join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'), codex),
    place('codex', 'Codex (project)', join(cwd, '.codex', 'config.toml'), { ...codex, project }),
    place('gemini', 'Gemini CLI', join(env.GEMINI_CLI_HOME || home, '.gemini', 'settings.json'), gemini),
    place('gemini', 'Gemini CLI (project)', join(cwd, '.gemini', 'settings.json'), { ...gemini, project }),
    place('windsurf', 'Windsurf', join(home, '.codeium', 'windsurf', 'mcp_config.json')),
    place('zed', 'Zed', join(zedFolder(machine), 'settings.json'), zed),
    place('zed', 'Zed (project)', join(cwd, '.zed', 'settings.json'), { ...zed, project }),
    ...['opencode.json', 'opencode.jsonc'].map((name) =>
      place('opencode', 'opencode', join(openFolder(machine), 'opencode', name), opencode),
    ),
    ...['opencode.json', 'opencode.jsonc'].flatMap((name) =>
      [join(cwd, name), join(cwd, '.opencode', name)].map((file) =>
        place('opencode', 'opencode (project)', file, { ...opencode, project }),
      ),
    ),
    place('cline', 'Cline', clineFile(machine), { dialect: 'cline' }),
    ...EDITORS.map(([product, label]) =>
      place(
        'cline',
        `Cline in ${label}`,
        join(appFolder(machine), product, 'User', 'globalStorage', ...CLINE_EXTENSION),
        { dialect: 'cline' },
      ),
    ),
    place(
      'copilot',
      'Copilot CLI',
      join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json'),
      copilot,
    ),
    place('goose', 'goose', gooseFile(machine), goose),
  ];
}

/** Folder and label of the editions of VS Code. */
const EDITORS = [
  ['Code', 'VS Code'],
  ['Code - Insiders', 'VS Code Insiders'],
] as const;

const CLINE_EXTENSION = ['saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json'];

function place(
  client: ClientName,
  label: string,
  file: string,
  more: Partial<Pick<ClientPlace, 'path' | 'project' | 'variables' | 'dialect' | 'format'>> = {},
): ClientPlace {
  return {
    client,
    label,
    file,
    format: 'json',
    dialect: 'common',
    path: ['mcpServers'],
    project: null,
    variables: 'editor',
    ...more,
  };
}

/** The platform's folder for application settings. */
function appFolder({ platform, env, home }: Machine): string {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA || win32.join(home, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || posix.join(home, '.config');
}

/** Zed follows the platform only on Windows. */
function zedFolder({ platform, env, home }: Machine): string {
  if (platform === 'win32') return win32.join(env.APPDATA || win32.join(home, 'AppData', 'Roaming'), 'Zed');
  if (platform === 'darwin') return posix.join(home, '.config', 'zed');
  return posix.join(env.XDG_CONFIG_HOME || posix.join(home, '.config'), 'zed');
}

/** opencode uses the XDG folders on every platform. */
function openFolder({ platform, env, home }: Machine): string {
  return env.XDG_CONFIG_HOME || (platform === 'win32' ? win32 : posix).join(home, '.config');
}

function clineFile({ platform, env, home }: Machine): string {
  const { join } = platform === 'win32' ? win32 : posix;
  const folder = env.CLINE_DATA_DIR || join(env.CLINE_DIR || join(home, '.cline'), 'data');
  return env.CLINE_MCP_SETTINGS_PATH || join(folder, 'settings', 'cline_mcp_settings.json');
}

function gooseFile({ platform, env, home }: Machine): string {
  if (platform === 'win32') {
    const roaming = env.APPDATA || win32.join(home, 'AppData', 'Roaming');
    return win32.join(roaming, 'Block', 'goose', 'config', 'config.yaml');
  }
  return posix.join(env.XDG_CONFIG_HOME || posix.join(home, '.config'), 'goose', 'config.yaml');
}

function claudeDesktopFiles(machine: Machine): string[] {
  const { platform, env, home } = machine;
  const { join } = platform === 'win32' ? win32 : posix;
  const usual = join(appFolder(machine), 'Claude', 'claude_desktop_config.json');
  if (platform !== 'win32') return [usual];
  // Apps from the Microsoft Store see a private copy of AppData.
  const local = env.LOCALAPPDATA || join(home, 'AppData', 'Local');
  const packaged = join(local, 'Packages', 'Claude_pzs8sxrjxfjjc', 'LocalCache', 'Roaming', 'Claude');
  return [usual, join(packaged, 'claude_desktop_config.json')];
}
