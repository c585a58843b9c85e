import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { initMachine } from '../../../../test/support/init-machine.ts';
import type { ConfigSource } from '../find-config.ts';
import { loadSettings } from '../load-settings.ts';
import { initOptions, planInit } from './plan-init.ts';

const CURSOR = `{
  // my servers
  "mcpServers": {
    "github": { "command": "npx", "args": ["-y", "gh"], "env": { "GITHUB_TOKEN": "tok-5ecret-1234" } }, // code
    "web": {
      "url": "https://mcp.example/mcp",
      "headers": { "Authorization": "Bearer abcDEF123456" }
    },
    "old": { "command": "old", "disabled": true },
  },
  "other": [1,2]
}
`;
const PML = { command: '/opt/node', args: ['/opt/pml/bin/pml.js', 'stdio'] };

test('[INIT-1] the servers of a client go into pml.json, and one entry for PML takes their place', async () => {
  const home = await initMachine();
  await home.write('.cursor/mcp.json', CURSOR);
  const plan = await home.init();
  expect(plan.imported).toEqual(['github', 'web', 'old'].map((name) => ({ name, from: 'Cursor' })));
  expect(await home.json('.pml/pml.json')).toEqual({
    mcpServers: {
      github: { command: 'npx', args: ['-y', 'gh'], env: { GITHUB_TOKEN: 'tok-5ecret-1234' } },
      web: { url: 'https://mcp.example/mcp', headers: { Authorization: 'Bearer abcDEF123456' } },
      old: { command: 'old', disabled: true },
    },
  });
  expect((await home.bytes('.cursor/mcp.json')).toString()).toBe(`{
  // my servers
  "mcpServers": {
    "pml": {
      "command": "/opt/node",
      "args": [
        "/opt/pml/bin/pml.js",
        "stdio"
      ]
    }
  },
  "other": [1,2]
}
`);
  expect((await stat(home.target)).mode & 0o777).toBe(0o600);
  const settings = await loadSettings({ env: {}, cwd: home.project, home: home.home });
  expect(settings.servers.map(({ name, disabled }) => [name, disabled])).toEqual([
    ['github', false],
    ['web', false],
    ['old', true],
  ]);
});

test('[INIT-2] planning writes nothing, and a second init changes nothing', async () => {
  const home = await initMachine();
  await home.write('.cursor/mcp.json', CURSOR);
  await home.write('.codex/config.toml', 'model = "m"\n\n[mcp_servers.a]\ncommand = "a"\n\n[tui]\nx = 1\n');
  const untouched = await home.snapshot();
  await home.plan();
  expect(await home.snapshot()).toEqual(untouched);
  await home.init();
  const after = await home.snapshot();
  const again = await home.init();
  expect(again.changes).toEqual([]);
  expect(await home.snapshot()).toEqual(after);
});

test('[INIT-3] comments and keys of an existing pml.json stay, and a server that it already has is not added again', async () => {
  const home = await initMachine({ KEY: 'k' });
  const own = `{
  // PML of mine
  "mcpServers": {
    "github": { "command": "npx", "args": ["-y", "gh"], "env": { "GITHUB_TOKEN": "tok-5ecret-1234" }, "timeout": 5000 }
  },
  "pml": { "permissions": { "deny": ["*:delete_*"] } } // careful
}
`;
  await home.write('.pml/pml.json', own);
  await home.write(
    '.cursor/mcp.json',
    '{"mcpServers":{"github":{"command":"npx","args":["-y","gh"],"env":{"GITHUB_TOKEN":"tok-5ecret-1234"}},"b":{"command":"b"}}}',
  );
  const plan = await home.init();
  expect(plan.imported).toEqual([{ name: 'b', from: 'Cursor' }]);
  expect((await home.bytes('.pml/pml.json')).toString()).toBe(
    own.replace('"timeout": 5000 }\n', '"timeout": 5000 },\n    "b": {\n      "command": "b"\n    }\n'),
  );
});

test('[INIT-4] two clients with different servers of the same name: the second server gets a suffix, and the notes say so', async () => {
  const home = await initMachine();
  await home.write(
    '.config/Claude/claude_desktop_config.json',
    '{"mcpServers":{"db":{"command":"one"},"same":{"command":"s"}}}',
  );
  await home.write(
    '.cursor/mcp.json',
    '{"mcpServers":{"db":{"command":"two"},"same":{"command":"s","args":[]}}}',
  );
  const plan = await home.init();
  expect(Object.keys((await home.json('.pml/pml.json')).mcpServers)).toEqual(['db', 'same', 'db-cursor']);
  expect(plan.notes).toContain('"db" of Cursor is called "db-cursor" in PML.');
});

test('[INIT-4] a name that no server can have is changed, and the notes say so', async () => {
  const home = await initMachine();
  await home.write(
    '.cursor/mcp.json',
    '{"mcpServers":{"My Sërver!":{"command":"a"},"code":{"command":"b"},"日本":{"command":"c"}}}',
  );
  const plan = await home.init();
  expect(Object.keys((await home.json('.pml/pml.json')).mcpServers)).toEqual([
    'My-Se-rver',
    'code-server',
    'my-server',
  ]);
  expect(plan.notes).toHaveLength(3);
});

test('[INIT-5] PML is never placed behind itself, whatever its entry looks like', async () => {
  const home = await initMachine();
  const own = {
    pml: { command: 'npx', args: ['-y', 'pml-gateway@1.2.3', 'stdio'], env: { PML_LOG: 'debug' } },
  };
  await home.write('.cursor/mcp.json', JSON.stringify({ mcpServers: own }));
  const others = {
    memory: { command: '/usr/local/bin/pml', args: ['stdio'] },
    one: { url: 'http://localhost:8080/mcp/servers/github' },
    real: { url: 'http://localhost:9999/mcp' },
  };
  await home.write('.config/Code/User/mcp.json', JSON.stringify({ servers: others }));
  const plan = await home.init();
  expect(plan.imported).toEqual([{ name: 'real', from: 'VS Code' }]);
  expect((await home.json('.cursor/mcp.json')).mcpServers).toEqual({
    pml: { ...PML, env: { PML_LOG: 'debug' } },
  });
  expect(Object.keys((await home.json('.config/Code/User/mcp.json')).servers)).toEqual(['memory', 'one']);
});

test('[INIT-6] a server that only the client can run stays with the client, with the reason', async () => {
  const home = await initMachine({ SET: 'x' });
  const servers = {
    asks: { command: 'a', env: { KEY: '${input:key}' } },
    file: { command: 'b', envFile: '${workspaceFolder}/.env' },
    unset: { command: 'c', env: { K: '${env:NOT_SET}' } },
    folder: { command: 'd', args: ['${workspaceFolder}'] },
    broken: { args: ['x'] },
    good: { command: 'e', args: ['${userHome}/x', '${env:SET}'] },
  };
  await home.write('.config/Code/User/mcp.json', JSON.stringify({ inputs: [], servers }));
  const plan = await home.init();
  expect((await home.json('.pml/pml.json')).mcpServers).toEqual({
    good: { command: 'e', args: [`${home.home}/x`, '${env:SET}'] },
  });
  const left = await home.json('.config/Code/User/mcp.json');
  expect(Object.keys(left.servers)).toEqual(['asks', 'file', 'unset', 'folder', 'broken', 'pml']);
  expect(left.servers.pml).toEqual({ type: 'stdio', ...PML });
  expect(plan.notes).toEqual([
    expect.stringMatching(/^"asks" stays with VS Code: .*asks the editor for a value/),
    '"file" stays with VS Code: reads variables from a file ("envFile").',
    expect.stringMatching(/^"unset" stays with VS Code: .*NOT_SET, which is not set/),
    expect.stringMatching(/^"folder" stays with VS Code: .*workspaceFolder/),
    expect.stringMatching(/^"broken" stays with VS Code: .*command/),
  ]);
});

test('[INIT-7] the servers of a project stay with it: only --project moves them, into the project', async () => {
  const home = await initMachine();
  await home.write('.cursor/mcp.json', '{"mcpServers":{}}');
  await home.write(
    'project/.vscode/mcp.json',
    '{"servers":{"a":{"command":"./run","args":["${workspaceFolder}/x"],"cwd":"sub"}}}',
  );
  await home.write('project/.mcp.json', '{"mcpServers":{"b":{"command":"b"}}}');
  await home.write('project/.cursor/mcp.json', '{"mcpServers":{}}');
  const before = await home.snapshot();
  const plan = await home.init();
  const file = join(home.project, '.mcp.json');
  expect(plan.notes).toContainEqual(expect.stringMatching(`^"b" stays in ${file}, .* pml init --project`));
  expect((await home.json('.pml/pml.json')).mcpServers).toEqual({});
  for (const path of ['project/.mcp.json', 'project/.vscode/mcp.json'])
    expect((await home.snapshot())[path]).toBe(before[path]);

  const moved = await home.initProject();
  expect((await home.json('.pml/pml.json')).mcpServers).toEqual({});
  expect((await home.json('project/.pml/pml.json')).mcpServers).toEqual({
    b: { command: 'b', cwd: home.project },
    a: { command: './run', args: [`${home.project}/x`], cwd: join(home.project, 'sub') },
  });
  expect((await home.bytes('project/.pml/.gitignore')).toString()).toBe('*\n');
  const args = [...PML.args, '--data', join(home.project, '.pml')];
  expect(await home.json('project/.mcp.json')).toEqual({
    mcpServers: { 'pml-project': { ...PML, args, alwaysLoad: true } },
  });
  expect(moved.notes.filter((note) => note.includes('is shared with the project'))).toHaveLength(2);
  expect(await home.json('project/.cursor/mcp.json')).toEqual({ mcpServers: {} });
  expect((await home.initProject()).changes).toEqual([]);

  for (let count = 0; count < 2; count++) await (await home.undo()).apply();
  expect(await home.snapshot()).toEqual(before);
});

test('[INIT-7] Claude Code: its user file gets one PML entry, and the servers of this folder move with the project', async () => {
  const home = await initMachine();
  const file = {
    numStartups: 3,
    mcpServers: { u: { type: 'stdio', command: 'u', args: [], env: {} } },
    projects: {
      [join(home.home, 'project')]: {
        history: ['x'],
        mcpServers: { l: { type: 'http', url: 'https://l.example/mcp' } },
      },
      '/elsewhere': { mcpServers: { far: { command: 'far' } } },
    },
  };
  await home.write('.claude.json', JSON.stringify(file, null, 2));
  await home.init('claude');
  const wired = { ...file, mcpServers: { pml: { ...PML, alwaysLoad: true } } };
  expect(await home.json('.claude.json')).toEqual(wired);
  await home.initProject();
  const { projects } = await home.json('.claude.json');
  expect(Object.keys(projects[home.project].mcpServers)).toEqual(['pml-project']);
  expect(projects['/elsewhere']).toEqual(file.projects['/elsewhere']);
  expect((await home.json('.pml/pml.json')).mcpServers).toEqual({ u: { command: 'u', args: [], env: {} } });
  expect((await home.json('project/.pml/pml.json')).mcpServers).toEqual({
    l: { url: 'https://l.example/mcp' },
  });
});

test('[INIT-8] Codex: tables move with headers, tokens and limits; the rest of the file stays', async () => {
  const home = await initMachine({ GH: 'x', TEAM: 'y', PASSED: 'z' });
  const before = `# Codex
model = "gpt" # best

# code host
[mcp_servers.github]
url = "https://gh.example/mcp"
bearer_token_env_var = "GH"
http_headers = { "X-A" = "1" }
env_http_headers = { "X-Team" = "TEAM" }
disabled_tools = ["delete_repo"]

[mcp_servers.local]
command = "run"
args = [
  "a",
  "[not.a.table]", # ]
]
env_vars = ["PASSED"]
enabled = false
[mcp_servers.local.env]
LITERAL = "\${HOME}"

# looks
[tui]
theme = "dark"
`;
  await home.write('.codex/config.toml', before);
  await home.init('codex');
  expect((await home.bytes('.codex/config.toml')).toString()).toBe(`# Codex
model = "gpt" # best

# code host
[mcp_servers.pml]
command = "/opt/node"
args = [ "/opt/pml/bin/pml.js", "stdio" ]

# looks
[tui]
theme = "dark"
`);
  expect((await home.json('.pml/pml.json')).mcpServers).toEqual({
    github: {
      url: 'https://gh.example/mcp',
      headers: { 'X-A': '1', 'X-Team': '${TEAM}' },
      auth: { kind: 'bearer', token: '${GH}' },
      tools: { exclude: ['delete_repo'] },
    },
    local: {
      command: 'run',
      args: ['a', '[not.a.table]'],
      env: { PASSED: '${PASSED}', LITERAL: '$${HOME}' },
      disabled: true,
    },
  });
});

test('[INIT-18] Codex: servers that cannot be cut out safely are refused, and nothing is written', async () => {
  const home = await initMachine();
  await home.write('.codex/config.toml', 'mcp_servers.a.command = "x"\n');
  await expect(home.plan('codex')).rejects.toMatchObject({
    code: 'config_invalid',
    hint: expect.stringContaining('[mcp_servers.NAME]'),
  });
  await home.write('.cursor/mcp.json', '{}');
  const plan = await home.init();
  expect(plan.notes).toEqual([expect.stringMatching(/^Codex is not changed: /)]);
  expect(parseToml((await home.bytes('.codex/config.toml')).toString())).toEqual({
    mcp_servers: { a: { command: 'x' } },
  });
});

describe('[INIT-9] the diff', () => {
  test('shows every file that changes and no secret, although the written files contain the secrets', async () => {
    const home = await initMachine();
    await home.write('.cursor/mcp.json', CURSOR);
    await home.write(
      '.codex/config.toml',
      '[mcp_servers.x]\ncommand = "x"\nargs = ["--token", "short", "--key=abcdef12345"]\nenv = { A = "hush" }\n',
    );
    const plan = await home.plan();
    expect(plan.changes.map(({ label }) => label)).toEqual(['PML', 'Cursor', 'Codex']);
    const shown = plan.changes.map(({ diff }) => diff).join('\n');
    for (const secret of ['tok-5ecret-1234', 'abcDEF123456', 'short', 'hush'])
      expect(shown).not.toContain(secret);
    expect(shown).toContain('+++ '.concat(join(home.home, '.cursor/mcp.json')));
    expect(shown).toMatch(/^\+ {6}"env": \{\n\+ {8}"GITHUB_TOKEN": "\(hidden\)"/m);
    expect(shown).toMatch(/^- {4}"github": \{ "command": "npx", .*"GITHUB_TOKEN": "\(hidden\)"/m);
    expect(shown).toMatch(/^\+\[mcp_servers\.pml\]$/m);
  });

  test('hides a secret of one file in all other files', async () => {
    const home = await initMachine();
    await home.write(
      '.cursor/mcp.json',
      '{"mcpServers":{\n"a":{"command":"a","env":{"X":"zebra-77-stripe"}},\n"b":{"command":"b","args":["x zebra-77-stripe"]}\n}}',
    );
    const plan = await home.plan();
    expect(JSON.stringify(plan.changes)).not.toContain('zebra-77');
  });
});

describe('[INIT-10] problems are reported before anything is written', () => {
  test('no client, an unknown client, a missing file, PML itself', async () => {
    const home = await initMachine();
    await expect(home.plan()).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('.cursor'),
    });
    await expect(home.plan('cursor')).rejects.toMatchObject({ code: 'not_found' });
    await expect(home.plan('emacs')).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('opencode'),
    });
    await home.write('project/.mcp.json', '{}');
    await expect(home.plan()).rejects.toMatchObject({ hint: expect.stringContaining('--project') });
    await home.write('project/pml.json', '{"mcpServers":{}}');
    await expect(home.plan('pml.json')).rejects.toMatchObject({ code: 'usage' });
  });

  test('a broken pml.json, a broken client file, a file that is not text', async () => {
    const home = await initMachine();
    await home.write('.pml/pml.json', '{ "mcpServers": { "a": {} } }');
    await home.write('.cursor/mcp.json', CURSOR);
    await expect(home.plan()).rejects.toMatchObject({ code: 'config_invalid' });
    await home.write('.pml/pml.json', '{}');
    await home.write('.cursor/mcp.json', '{ "mcpServers": {');
    await expect(home.plan('cursor')).rejects.toMatchObject({ code: 'config_invalid' });
    await home.write('.cursor/mcp.json', Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(home.plan('cursor')).rejects.toThrow(/UTF-8/);
  });

  test('a file that changes between the preview and the confirmation', async () => {
    const home = await initMachine();
    const file = await home.write('.cursor/mcp.json', CURSOR);
    const plan = await home.plan();
    await writeFile(file, '{}');
    const before = await home.snapshot();
    await expect(plan.apply()).rejects.toMatchObject({ code: 'file_changed' });
    expect(await home.snapshot()).toEqual(before);
  });
});

test('[INIT-11] --from names a client that has no file yet, or any file at all', async () => {
  const home = await initMachine();
  await home.write('.cursor/settings', '');
  await home.init('cursor');
  expect(await home.json('.cursor/mcp.json')).toEqual({ mcpServers: { pml: PML } });
  await home.write(
    'windsurf.json',
    '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"w": { "serverUrl": "https://w.example/mcp" }\r\n\t}\r\n}\r\n',
  );
  await home.init('../windsurf.json');
  const text = (await home.bytes('windsurf.json')).toString();
  expect(text).toMatch(/^\uFEFF\{\r\n\t"mcpServers": \{\r\n\t\t"pml": \{\r\n\t\t\t"command"/);
  expect(parse(text.slice(1)).mcpServers).toEqual({ pml: PML });
  expect((await home.json('.pml/pml.json')).mcpServers.w).toEqual({ url: 'https://w.example/mcp' });
});

describe('[INIT-16] the command that clients get', () => {
  const program = { node: '/n/node', launcher: '/p/bin/pml.js', now: () => new Date(0) };
  const argsFor = (source: Omit<ConfigSource, 'cwd' | 'home'>) =>
    initOptions({ cwd: '/w', home: '/home/a', ...source }, program);

  test('is absolute, and names the configuration and every option that is not the default', () => {
    expect(argsFor({ env: {} })).toMatchObject({
      launch: { command: '/n/node', args: ['/p/bin/pml.js', 'stdio', '--config', '/home/a/.pml/pml.json'] },
      target: '/home/a/.pml/pml.json',
    });
    expect(argsFor({ env: { PML_DATA: 'd' } })).toMatchObject({
      launch: { args: ['/p/bin/pml.js', 'stdio', '--config', '/w/d/pml.json', '--data', '/w/d'] },
      target: '/w/d/pml.json',
    });
    expect(argsFor({ env: {}, file: 'c.json' })).toMatchObject({
      launch: { args: ['/p/bin/pml.js', 'stdio', '--config', '/w/c.json'] },
      target: '/w/c.json',
    });
  });

  test('comes with a warning when it may disappear', async () => {
    const home = await initMachine();
    await home.write('.cursor/mcp.json', '{}');
    const launch = {
      command: '/n',
      args: ['/home/a/.npm/_npx/abc/node_modules/pml-gateway/bin/pml.js', 'stdio'],
    };
    const plan = await planInit({ ...home.options, launch });
    expect(plan.notes).toEqual([expect.stringContaining('npm install -g pml-gateway')]);
  });
});
