import { expect, test } from 'vitest';
import { clientPlaces, type Machine } from './client-places.ts';

const files = (machine: Machine) =>
  Object.fromEntries(clientPlaces(machine).map(({ label, file }) => [label, file]));

test('[INIT-15] clients are looked for where they are on macOS, Windows and Linux', () => {
  const mac = files({ platform: 'darwin', env: {}, home: '/Users/a', cwd: '/Users/a/p' });
  expect(mac).toEqual({
    'Claude Desktop': '/Users/a/Library/Application Support/Claude/claude_desktop_config.json',
    'Claude Code': '/Users/a/.claude.json',
    'Claude Code (this folder)': '/Users/a/.claude.json',
    'Claude Code (project)': '/Users/a/p/.mcp.json',
    Cursor: '/Users/a/.cursor/mcp.json',
    'Cursor (project)': '/Users/a/p/.cursor/mcp.json',
    'VS Code': '/Users/a/Library/Application Support/Code/User/mcp.json',
    'VS Code Insiders': '/Users/a/Library/Application Support/Code - Insiders/User/mcp.json',
    'VS Code (project)': '/Users/a/p/.vscode/mcp.json',
    Codex: '/Users/a/.codex/config.toml',
    'Codex (project)': '/Users/a/p/.codex/config.toml',
    'Gemini CLI': '/Users/a/.gemini/settings.json',
    'Gemini CLI (project)': '/Users/a/p/.gemini/settings.json',
    Windsurf: '/Users/a/.codeium/windsurf/mcp_config.json',
    Zed: '/Users/a/.config/zed/settings.json',
    'Zed (project)': '/Users/a/p/.zed/settings.json',
    opencode: '/Users/a/.config/opencode/opencode.jsonc',
    'opencode (project)': '/Users/a/p/.opencode/opencode.jsonc',
    Cline: '/Users/a/.cline/data/settings/cline_mcp_settings.json',
    'Cline in VS Code':
      '/Users/a/Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    'Cline in VS Code Insiders':
      '/Users/a/Library/Application Support/Code - Insiders/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    'Copilot CLI': '/Users/a/.copilot/mcp-config.json',
    goose: '/Users/a/.config/goose/config.yaml',
  });
  const linux = files({ platform: 'linux', env: {}, home: '/home/a', cwd: '/p' });
  expect(linux).toMatchObject({
    'Claude Desktop': '/home/a/.config/Claude/claude_desktop_config.json',
    'VS Code': '/home/a/.config/Code/User/mcp.json',
  });
  const windows = {
    platform: 'win32',
    env: { APPDATA: 'C:\\Users\\a\\AppData\\Roaming', LOCALAPPDATA: 'C:\\Users\\a\\AppData\\Local' },
    home: 'C:\\Users\\a',
    cwd: 'C:\\p',
  } as const;
  expect(clientPlaces(windows).map(({ file }) => file)).toEqual(
    expect.arrayContaining([
      'C:\\Users\\a\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
      'C:\\Users\\a\\AppData\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json',
      'C:\\Users\\a\\AppData\\Roaming\\Code\\User\\mcp.json',
      'C:\\Users\\a\\.cursor\\mcp.json',
      'C:\\p\\.mcp.json',
      'C:\\Users\\a\\AppData\\Roaming\\Zed\\settings.json',
      'C:\\Users\\a\\.config\\opencode\\opencode.json',
      'C:\\Users\\a\\AppData\\Roaming\\Block\\goose\\config\\config.yaml',
    ]),
  );
});

test('[INIT-15] environment variables that move a client are respected', () => {
  const env = {
    CLAUDE_CONFIG_DIR: '/c',
    CODEX_HOME: '/x',
    XDG_CONFIG_HOME: '/conf',
    GEMINI_CLI_HOME: '/g',
    COPILOT_HOME: '/co',
    CLINE_DIR: '/cl',
  };
  expect(files({ platform: 'linux', env, home: '/home/a', cwd: '/p' })).toMatchObject({
    'Claude Code': '/c/.claude.json',
    Codex: '/x/config.toml',
    'VS Code': '/conf/Code/User/mcp.json',
    'Gemini CLI': '/g/.gemini/settings.json',
    'Copilot CLI': '/co/mcp-config.json',
    Cline: '/cl/data/settings/cline_mcp_settings.json',
    Zed: '/conf/zed/settings.json',
    opencode: '/conf/opencode/opencode.jsonc',
    goose: '/conf/goose/config.yaml',
  });
});
