import { chmod, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { initMachine } from '../../../../test/support/init-machine.ts';

/** Everything that is hard to write again: marks, line ends, comments, odd spacing, no last newline. */
const FILES: Readonly<Record<string, string>> = {
  '.cursor/mcp.json':
    '\uFEFF{\r\n\t"mcpServers" :{ "a":{"command":"a"} , // one\r\n"b":{"url":"https://b.example"},},\r\n}',
  '.config/Claude/claude_desktop_config.json': '{"mcpServers":{"c":{"command":"c"}},"x":1}',
  '.config/Code/User/mcp.json': '',
  '.codex/config.toml': '# top\r\n[mcp_servers.d]\r\ncommand = "d"\r\n\r\n\r\n[tui] # t\r\nx=1',
  '.claude.json': '{"numStartups":1}\n',
  '.pml/pml.json': '{ /* mine */ "mcpServers": {"z": {"command":"z"}}, }\n',
};

async function furnished() {
  const home = await initMachine();
  for (const [path, text] of Object.entries(FILES)) await home.write(path, text);
  return home;
}

test('[INIT-12] undo restores every file byte for byte, says so, and leaves nothing behind', async () => {
  const home = await furnished();
  await chmod(join(home.home, '.cursor/mcp.json'), 0o640);
  const before = await home.snapshot();
  await home.init();
  const changed = await home.snapshot();
  for (const path of Object.keys(FILES)) expect(changed[path], path).not.toBe(before[path]);
  const undo = await home.undo();
  expect(undo.changes).toHaveLength(6);
  const said = await undo.apply();
  expect(said).toContain(`Restored ${join(home.home, '.cursor/mcp.json')}, byte for byte as it was.`);
  expect(await home.snapshot()).toEqual(before);
  expect((await stat(join(home.home, '.cursor/mcp.json'))).mode & 0o777).toBe(0o640);
  await expect(home.undo()).rejects.toMatchObject({ code: 'not_found' });
});

test('[INIT-12] files that init created are removed, and init can run again', async () => {
  const home = await initMachine();
  await home.write('.cursor/mcp.json', '{"mcpServers":{"a":{"command":"a"}}}');
  await home.init();
  const first = await home.snapshot();
  expect(await (await home.undo()).apply()).toContain(
    `Removed ${home.target}, which "pml init" had created.`,
  );
  await home.init();
  expect((await home.snapshot())['.cursor/mcp.json']).toBe(first['.cursor/mcp.json']);
});

test('[INIT-13] backups lie beside the file with a timestamp in their name, and none is ever overwritten', async () => {
  const home = await initMachine();
  const file = await home.write('.cursor/mcp.json', '{"mcpServers":{"a":{"command":"a"}}}');
  await chmod(file, 0o600);
  await home.init();
  await home.write('.cursor/mcp.json', '{"mcpServers":{"b":{"command":"b"}}}');
  await home.init();
  const names = Object.keys(await home.snapshot()).filter((name) => name.startsWith('.cursor/'));
  expect(names).toEqual([
    '.cursor/mcp.json',
    '.cursor/mcp.json.pml-backup-20261115T102030',
    '.cursor/mcp.json.pml-backup-20261115T102030-2',
  ]);
  expect((await home.bytes(names[1]!)).toString()).toContain('"a"');
  expect((await home.bytes(names[2]!)).toString()).toContain('"b"');
  expect((await stat(join(home.home, names[1]!))).mode & 0o777).toBe(0o600);
});

test('[INIT-14] undo refuses to lose servers that were added, changed or removed since, and names them', async () => {
  const home = await initMachine();
  await home.write(
    '.cursor/mcp.json',
    '{"mcpServers":{"a":{"command":"a"},"k":{"command":"k","envFile":"x"},"l":{"command":"l","envFile":"x"}}}',
  );
  await home.write('.codex/config.toml', '[mcp_servers.d]\ncommand = "d"\n');
  await home.init();
  const servers = (await home.json('.cursor/mcp.json')).mcpServers;
  delete servers.l;
  await home.write(
    '.cursor/mcp.json',
    JSON.stringify({ mcpServers: { ...servers, k: { command: 'k2', envFile: 'x' }, new: { command: 'n' } } }),
  );
  const before = await home.snapshot();
  const refused = home.undo();
  await expect(refused).rejects.toMatchObject({ code: 'file_changed' });
  await expect(refused).rejects.toThrow(/"k" was changed, "l" was removed, "new" was added/);
  expect(await home.snapshot()).toEqual(before);
  // The other client can be had back all the same.
  await (await home.undo('codex')).apply();
  expect((await home.bytes('.codex/config.toml')).toString()).toBe('[mcp_servers.d]\ncommand = "d"\n');
  await expect(home.undo()).rejects.toMatchObject({ code: 'file_changed' });
});

test('[INIT-14] later changes by the client elsewhere in its file are kept: only the servers are restored', async () => {
  const home = await initMachine();
  const original = '{\n  "numStartups": 1,\n  "mcpServers": {\n    "a": { "command": "a" } // mine\n  }\n}\n';
  await home.write('.claude.json', original);
  await home.write('.codex/config.toml', '# x\n[mcp_servers.d]\ncommand = "d" # keep\n');
  await home.init();
  const claude = (await home.bytes('.claude.json')).toString();
  await home.write('.claude.json', claude.replace('"numStartups": 1', '"numStartups": 2'));
  const codex = (await home.bytes('.codex/config.toml')).toString();
  await home.write('.codex/config.toml', `${codex}\n[projects."/x"]\ntrust_level = "trusted"\n`);
  const said = await (await home.undo()).apply();
  expect((await home.bytes('.claude.json')).toString()).toBe(original.replace(': 1', ': 2'));
  expect((await home.bytes('.codex/config.toml')).toString()).toBe(
    '# x\n[mcp_servers.d]\ncommand = "d" # keep\n\n[projects."/x"]\ntrust_level = "trusted"\n',
  );
  expect(said.filter((line) => line.includes('kept its other changes'))).toHaveLength(2);
});

test('[INIT-14] a pml.json that was edited since stays; a missing backup is an error', async () => {
  const home = await initMachine();
  const file = await home.write('.cursor/mcp.json', '{"mcpServers":{"a":{"command":"a"}}}');
  await home.init();
  await writeFile(
    home.target,
    '{ "mcpServers": { "a": { "command": "a" } }, "pml": { "permissions": { "profile": "careful" } } }',
  );
  const plan = await home.undo();
  expect(plan.changes.map(({ label }) => label)).toEqual(['Cursor']);
  expect(plan.notes).toEqual([`${home.target} was changed later, so it is not restored.`]);
  await rm(`${file}.pml-backup-20261115T102030`);
  await expect(home.undo()).rejects.toThrow(/backup of .* is missing/);
});

test('[INIT-12] a file behind a link is changed and restored where it really is', async () => {
  const home = await initMachine();
  const real = await home.write('dotfiles/mcp.json', '{"mcpServers":{"a":{"command":"a"}}}');
  await home.write('.cursor/x', '');
  await symlink(real, join(home.home, '.cursor/mcp.json'));
  await home.init();
  expect((await home.json('dotfiles/mcp.json')).mcpServers).toHaveProperty('pml');
  await (await home.undo()).apply();
  expect((await home.bytes('dotfiles/mcp.json')).toString()).toBe('{"mcpServers":{"a":{"command":"a"}}}');
});
