import { join } from 'node:path';
import { expect, test } from 'vitest';
import { initMachine } from '../../../../test/support/init-machine.ts';

test('[INIT-21] Claude Code: servers it has disabled in this project are disabled in PML', async () => {
  const home = await initMachine();
  await home.write(
    'project/.mcp.json',
    JSON.stringify({
      mcpServers: { a: { command: 'a' }, b: { command: 'b' }, c: { command: 'c' }, d: { command: 'd' } },
    }),
  );
  await home.write('.claude/settings.json', '{ /* mine */ "disabledMcpjsonServers": ["a"] }');
  await home.write('project/.claude/settings.local.json', '{"disabledMcpjsonServers":["b"]}');
  await home.write(
    '.claude.json',
    JSON.stringify({ projects: { [home.project]: { disabledMcpServers: ['c'] } } }),
  );
  await home.initProject();
  const { mcpServers } = await home.json('project/.pml/pml.json');
  const off = Object.keys(mcpServers).filter((name) => mcpServers[name].disabled);
  expect(off).toEqual(['a', 'b', 'c']);
});

test('[INIT-21] Gemini CLI and Copilot CLI: servers and tools not allowed or disabled there are disabled in PML', async () => {
  const home = await initMachine();
  const servers = { a: { command: 'a' }, b: { command: 'b' } };
  await home.write('.gemini/settings.json', JSON.stringify({ mcp: { allowed: ['a'] }, mcpServers: servers }));
  const plan = await home.init('gemini');
  expect((await home.json('.pml/pml.json')).mcpServers).toEqual({
    a: { command: 'a' },
    b: { command: 'b', disabled: true },
  });
  expect(plan.notes).toContainEqual(expect.stringMatching(/"mcp\.allowed" in .*: add "pml" there/));
  await home.write('.copilot/mcp-config.json', '{"mcpServers":{"c":{"command":"c"},"d":{"command":"d"}}}');
  await home.write('.copilot/settings.json', '{"disabledMcpServers":["d"]}');
  await home.init('copilot');
  expect((await home.json('.pml/pml.json')).mcpServers).toMatchObject({
    c: { command: 'c' },
    d: { command: 'd', disabled: true },
  });
});

test('[INIT-22] the notes list client rules that no longer match, and what to write in pml.json instead', async () => {
  const home = await initMachine();
  await home.write(
    '.claude.json',
    '{"mcpServers":{"my gh":{"command":"g"},"web":{"command":"w"},"none":{"command":"n"}}}',
  );
  await home.write(
    '.claude/settings.json',
    JSON.stringify({
      permissions: {
        deny: ['mcp__my_gh__delete_repo', 'mcp__my_gh__drop', 'Bash(rm *)'],
        allow: ['mcp__web', 'mcp__other__x', 'mcp__nonesuch'],
      },
    }),
  );
  const { notes } = await home.plan('claude');
  const told = notes.filter((note) => note.includes('no longer'));
  expect(told).toEqual([
    expect.stringContaining('"mcp__my_gh__delete_repo", "mcp__my_gh__drop" (permissions.deny in '),
    expect.stringContaining('"mcp__web" (permissions.allow in '),
  ]);
  expect(told[0]).toContain(
    `"my-gh:delete_repo", "my-gh:drop" under "pml.permissions" (deny) in ${home.target}`,
  );
  expect(told[1]).toContain('"web:*" under "pml.permissions" (allow)');
});

test('[INIT-22] the notes also list rules of Zed and opencode, and approvals in Cline and Gemini CLI', async () => {
  const home = await initMachine();
  await home.write(
    '.config/zed/settings.json',
    JSON.stringify({
      context_servers: { gh: { command: 'g' } },
      agent: { tool_permissions: { tools: { 'mcp:gh:push': { default: 'deny' }, terminal: {} } } },
    }),
  );
  await home.write(
    '.config/opencode/opencode.json',
    JSON.stringify({
      mcp: { my_gh: { type: 'local', command: ['g'] } },
      permission: { 'my_gh_*': 'ask', edit: 'deny' },
    }),
  );
  await home.write(
    '.cline/data/settings/cline_mcp_settings.json',
    '{"mcpServers":{"c":{"command":"c","autoApprove":["go"]}}}',
  );
  await home.write('.gemini/settings.json', '{"mcpServers":{"t":{"command":"t","trust":true}}}');
  const { notes } = await home.plan();
  expect(notes).toEqual([
    expect.stringMatching(/^Gemini CLI never asked for "t:\*"; .*pml\.permissions\.allow/),
    expect.stringMatching(/^Zed: "mcp:gh:push" \(agent\.tool_permissions\.tools in .*"gh:push"/),
    expect.stringMatching(/^opencode: "my_gh_\*" \(permission in .*"my_gh:\*"/),
    expect.stringMatching(/^Cline never asked for "c:go"/),
  ]);
});

test('[INIT-22] the notes list servers that may need a login, but not those with a key', async () => {
  const home = await initMachine();
  const servers = {
    open: { url: 'https://o.example/mcp' },
    keyed: { url: 'https://k.example/mcp', headers: { Authorization: 'Bearer x' } },
    client: { url: 'https://c.example/mcp', auth: { CLIENT_ID: 'id' } },
    off: { url: 'https://f.example/mcp', disabled: true },
    local: { command: 'l' },
  };
  await home.write('.cursor/mcp.json', JSON.stringify({ mcpServers: servers }));
  const { notes } = await home.plan();
  expect(notes).toEqual([
    expect.stringMatching(/If "open", "client" need one, log in once: pml servers login/),
  ]);
});

test('[INIT-22] a broken settings file beside the servers does not stop init', async () => {
  const home = await initMachine();
  await home.write('.claude.json', '{"mcpServers":{"a":{"command":"a"}}}');
  await home.write(join('.claude', 'settings.json'), '{ "permissions": ');
  expect((await home.plan('claude')).imported).toEqual([{ name: 'a', from: 'Claude Code' }]);
});
