import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { initMachine } from '../../../../test/support/init-machine.ts';

const PML = { command: '/opt/node', args: ['/opt/pml/bin/pml.js', 'stdio'] };

interface Case {
  readonly client: string;
  readonly file: string;
  readonly before: string;
  /** What PML takes over. */
  readonly moved: Record<string, unknown>;
  /** Keys of the list of servers. */
  readonly path: readonly string[];
  readonly left: Record<string, unknown>;
}

const CASES: readonly Case[] = [
  {
    client: 'zed',
    file: '.config/zed/settings.json',
    before: `// Zed settings
{
  "theme": "One Dark",
  "context_servers": {
    "ext": { "source": "extension", "settings": { "token": "x" } },
    "old": { "command": { "path": "old", "args": ["1"], "env": { "A": "\${A}" } } },
    "new": { "source": "custom", "command": "new", "args": [], "enabled": false },
    "web": { "url": "https://w.example/mcp", "headers": { "Authorization": "Bearer t-1234567" } }, // remote
  },
}
`,
    moved: {
      old: { command: 'old', args: ['1'], env: { A: '$${A}' } },
      new: { command: 'new', args: [], disabled: true },
      web: { url: 'https://w.example/mcp', headers: { Authorization: 'Bearer t-1234567' } },
    },
    path: ['context_servers'],
    left: { ext: { source: 'extension', settings: { token: 'x' } }, pml: PML },
  },
  {
    client: 'opencode',
    file: '.config/opencode/opencode.json',
    before: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "local": { "type": "local", "command": ["npx", "-y", "x"], "environment": { "K": "{env:SET}" }, "enabled": true },
    "remote": { "type": "remote", "url": "https://r.example/mcp", "headers": { "X": "1" }, "enabled": false },
    "keyed": { "type": "local", "command": ["k", "{file:~/.key}"] },
    "jira": { "enabled": true }
  }
}
`,
    moved: {
      local: { command: 'npx', args: ['-y', 'x'], env: { K: '${SET}' } },
      remote: { url: 'https://r.example/mcp', headers: { X: '1' }, disabled: true },
    },
    path: ['mcp'],
    left: {
      keyed: { type: 'local', command: ['k', '{file:~/.key}'] },
      jira: { enabled: true },
      pml: { type: 'local', command: [PML.command, ...PML.args] },
    },
  },
  {
    client: 'opencode',
    file: '.config/opencode/opencode.jsonc',
    before:
      '{ "mcp": { "servers": { "a": { "type": "local", "command": ["a"], "cwd": "/w", "disabled": true } } } }\n',
    moved: { a: { command: 'a', args: [], cwd: '/w', disabled: true } },
    path: ['mcp', 'servers'],
    left: { pml: { type: 'local', command: [PML.command, ...PML.args] } },
  },
  {
    client: 'gemini',
    file: '.gemini/settings.json',
    before: JSON.stringify({
      mcp: { excluded: ['off'] },
      mcpServers: {
        on: { command: 'on', env: { K: '$SET', L: '${SET}' }, includeTools: ['a'], timeout: 3 },
        off: { httpUrl: 'https://o.example/mcp' },
      },
    }),
    moved: {
      on: { command: 'on', env: { K: '${SET}', L: '${SET}' }, tools: { include: ['a'] } },
      off: { url: 'https://o.example/mcp', disabled: true },
    },
    path: ['mcpServers'],
    left: { pml: PML },
  },
  {
    client: 'windsurf',
    file: '.codeium/windsurf/mcp_config.json',
    before:
      '{"mcpServers":{"w":{"serverUrl":"https://w.example/mcp","headers":{"K":"${env:SET}"},"disabledTools":["x"]}}}',
    moved: {
      w: { url: 'https://w.example/mcp', headers: { K: '${env:SET}' }, tools: { exclude: ['x'] } },
    },
    path: ['mcpServers'],
    left: { pml: PML },
  },
  {
    client: 'cline',
    file: '.cline/data/settings/cline_mcp_settings.json',
    before: JSON.stringify({
      mcpServers: {
        nested: { transport: { type: 'stdio', command: 'n', args: ['1'] } },
        flat: { command: 'f', disabled: true, autoApprove: ['go'] },
        web: { type: 'streamableHttp', url: 'https://w.example/mcp' },
      },
    }),
    moved: {
      nested: { command: 'n', args: ['1'] },
      flat: { command: 'f', disabled: true },
      web: { url: 'https://w.example/mcp' },
    },
    path: ['mcpServers'],
    left: { pml: PML },
  },
  {
    client: 'copilot',
    file: '.copilot/mcp-config.json',
    before: JSON.stringify({
      mcpServers: {
        all: { type: 'local', command: 'a', args: [], tools: ['*'], env: { K: '$SET' } },
        some: { type: 'http', url: 'https://s.example/mcp', tools: ['x'] },
      },
    }),
    moved: {
      all: { command: 'a', args: [], env: { K: '${SET}' } },
      some: { url: 'https://s.example/mcp', tools: { include: ['x'] } },
    },
    path: ['mcpServers'],
    left: { pml: { type: 'local', ...PML, tools: ['*'] } },
  },
  {
    client: 'goose',
    file: '.config/goose/config.yaml',
    before: `# mine
GOOSE_MODEL: "m" # best
extensions:
  developer: # part of goose
    bundled: true
    enabled: true
    type: builtin
  # code host
  github:
    enabled: true
    type: stdio
    cmd: npx
    args: ["-y", gh]
    envs:
      MODE: "x"
    env_keys:
      - SET

  web:
    type: streamable_http
    enabled: false
    uri: https://w.example/mcp
    headers: { Authorization: "Bearer \${MODE}" }
    envs: { MODE: tok-123456 }
# tail
GOOSE_MODE: auto
`,
    moved: {
      github: { command: 'npx', args: ['-y', 'gh'], env: { SET: '${SET}', MODE: 'x' } },
      web: { url: 'https://w.example/mcp', headers: { Authorization: 'Bearer tok-123456' }, disabled: true },
    },
    path: ['extensions'],
    left: {
      developer: { bundled: true, enabled: true, type: 'builtin' },
      pml: {
        enabled: true,
        type: 'stdio',
        name: 'pml',
        description: 'All your tools: search, code, routines',
        cmd: PML.command,
        args: PML.args,
        timeout: 300,
      },
    },
  },
];

describe('[INIT-19] each client keeps its own file format and its own way to write a server', () => {
  for (const { client, file, before, moved, path, left } of CASES) {
    test(`${client}: ${file}`, async () => {
      const home = await initMachine({ SET: 'x' });
      await home.write(file, before);
      const untouched = await home.snapshot();
      await home.init(client);
      const text = (await home.bytes(file)).toString();
      const root = file.endsWith('.yaml') ? parseYaml(text) : parse(text);
      expect(path.reduce((inner, key) => inner[key], root)).toEqual(left);
      expect((await home.json('.pml/pml.json')).mcpServers).toEqual(moved);
      expect((await home.plan(client)).changes).toEqual([]);
      await (await home.undo()).apply();
      expect(await home.snapshot()).toEqual(untouched);
    });
  }
});

test('[INIT-19] goose: the rest of the file stays as it is, and the diff shows no secret', async () => {
  const home = await initMachine({ SET: 'x' });
  const { file, before } = CASES.at(-1)!;
  await home.write(file, before);
  const plan = await home.init('goose');
  const text = (await home.bytes(file)).toString();
  expect(text).toContain('# mine\nGOOSE_MODEL: "m" # best\nextensions:\n  developer: # part of goose\n');
  expect(text).toContain('  # code host\n  pml:\n    enabled: true\n');
  expect(text).toMatch(/\n# tail\nGOOSE_MODE: auto\n$/);
  expect(JSON.stringify(plan.changes)).not.toContain('tok-123456');

  await home.write(file, text.replace('GOOSE_MODE: auto', 'GOOSE_MODE: chat'));
  await (await home.undo()).apply();
  expect((await home.bytes(file)).toString()).toBe(before.replace('GOOSE_MODE: auto', 'GOOSE_MODE: chat'));
});

test('[INIT-19] goose: no list yet, an empty list, a list that cannot be edited line by line', async () => {
  for (const text of ['', 'A: 1', 'extensions: {}\n', 'extensions:\nA: 1\n']) {
    const home = await initMachine();
    await home.write('.config/goose/config.yaml', text);
    await home.init('goose');
    const { extensions, ...rest } = parseYaml((await home.bytes('.config/goose/config.yaml')).toString());
    expect(Object.keys(extensions)).toEqual(['pml']);
    expect(rest).toEqual(text.includes('A') ? { A: 1 } : {});
    await (await home.undo()).apply();
    expect((await home.bytes('.config/goose/config.yaml')).toString()).toBe(text);
  }
  const home = await initMachine();
  await home.write(
    '.config/goose/config.yaml',
    'extensions: { a: { type: stdio, cmd: a }, b: { type: builtin } }\n',
  );
  await expect(home.plan('goose')).rejects.toMatchObject({ code: 'config_invalid' });
  await home.write('.config/goose/config.yaml', 'a: [\n');
  await expect(home.plan('goose')).rejects.toThrow(/config\.yaml:2:1 is not a YAML/);
});

test('[INIT-20] a file in an unknown format is refused with a list of the known ones; a copy of a known file is accepted', async () => {
  const home = await initMachine();
  await home.write('x.json', '{"tools":{}}');
  await home.write('x.yaml', 'servers: {}\n');
  for (const file of ['../x.json', '../x.yaml']) {
    await expect(home.plan(file)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('no list of servers that PML knows'),
      hint: expect.stringMatching(/context_servers.*Zed.*"mcp" \(opencode\).*extensions.*goose/),
    });
  }
  await home.write('dotfiles/opencode.json', '{}');
  await home.init('../dotfiles/opencode.json');
  expect(await home.json('dotfiles/opencode.json')).toEqual({
    mcp: { pml: { type: 'local', command: [PML.command, ...PML.args] } },
  });
  await home.write('dotfiles/zed.json', '{"context_servers":{}}');
  await home.init('../dotfiles/zed.json');
  expect(await home.json('dotfiles/zed.json')).toEqual({ context_servers: { pml: PML } });
});
