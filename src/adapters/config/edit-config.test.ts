import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDir } from '../../../test/support/temporary-dir.ts';
import { addServer, removeServer } from './edit-config.ts';
import { loadSettings, trustConfig } from './load-settings.ts';

async function folder() {
  const dir = await temporaryDir();
  const source = { cwd: dir, data: join(dir, 'data'), env: { TOKEN: 'abc' }, home: dir };
  return { dir, source };
}

test('[SRVCMD-1] the first server creates a pml.json in the data folder, readable by its owner only', async () => {
  const { dir, source } = await folder();
  const file = await addServer(source, 'files', { command: 'npx', args: ['-y', 'x'] });
  expect(file).toBe(join(dir, 'data', 'pml.json'));
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await loadSettings(source)).toMatchObject({
    file,
    servers: [{ name: 'files', command: 'npx', args: ['-y', 'x'] }],
  });
});

test('[SRVCMD-2] adding and removing a server leaves the rest of the file as it was', async () => {
  const { dir, source } = await folder();
  const file = join(dir, 'pml.json');
  const before = '{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "a" }, // a\r\n\t},\r\n}\r\n';
  await writeFile(file, `\uFEFF${before}`);
  await trustConfig(source);
  await addServer(source, 'web', {
    url: 'https://x.example/mcp',
    headers: { Authorization: 'Bearer ${TOKEN}' },
  });
  const after = await readFile(file, 'utf8');
  expect(after).toContain('// a\r\n\t\t"web": {\r\n\t\t\t"url": "https://x.example/mcp",\r\n');
  expect(after).toContain('Bearer ${TOKEN}');
  await removeServer(source, 'web');
  expect(await readFile(file, 'utf8')).toBe(`\uFEFF${before}`);
});

test('[SRVCMD-2] a linked file stays linked', async () => {
  const { dir, source } = await folder();
  await writeFile(join(dir, 'real.json'), '{ "mcpServers": {}, "pml": {} }', { mode: 0o640 });
  await symlink(join(dir, 'real.json'), join(dir, 'pml.json'));
  await trustConfig(source);
  await addServer(source, 'a', { command: 'a' });
  expect(await readFile(join(dir, 'real.json'), 'utf8')).toContain('"a"');
  expect((await stat(join(dir, 'real.json'))).mode & 0o777).toBe(0o640);
});

test('[CFG-12] an untrusted file is not edited, and an edited file stays trusted', async () => {
  const { dir, source } = await folder();
  const file = join(dir, 'pml.json');
  await writeFile(file, '{ "mcpServers": { "theirs": { "command": "evil" } } }');
  await expect(addServer(source, 'mine', { command: 'a' })).rejects.toMatchObject({
    code: 'config_untrusted',
  });
  await trustConfig(source);
  await addServer(source, 'mine', { command: 'a' });
  expect((await loadSettings(source)).servers.map(({ name }) => name)).toEqual(['theirs', 'mine']);
});

test('[SRVCMD-3] a change that would make the file invalid is refused and not written', async () => {
  const { dir, source } = await folder();
  const file = join(dir, 'pml.json');
  await writeFile(file, '{ "mcpServers": { "github": { "command": "x" } } }');
  await trustConfig(source);
  await expect(addServer(source, 'github', { command: 'y' })).rejects.toMatchObject({
    code: 'invalid_argument',
    hint: expect.stringContaining('pml servers remove github'),
  });
  await expect(addServer(source, 'web', { url: 'ftp://x' })).rejects.toThrow(/http:\/\//);
  await expect(addServer(source, 'no good', { command: 'y' })).rejects.toMatchObject({
    code: 'config_invalid',
  });
  await expect(addServer(source, 'v', { command: '${NOT_SET}' })).rejects.toThrow(
    /NOT_SET, which is not set/,
  );
  await expect(removeServer(source, 'gihub')).rejects.toMatchObject({
    code: 'not_found',
    hint: 'Did you mean "github"?',
  });
  expect(await readFile(file, 'utf8')).toBe('{ "mcpServers": { "github": { "command": "x" } } }');
});

test("[SRVCMD-2] a client's file is edited where it keeps its servers", async () => {
  const { dir, source } = await folder();
  await writeFile(join(dir, 'mcp.json'), '{ "servers": { "a": { "command": "a" } } }');
  const named = { ...source, file: 'mcp.json' };
  await addServer(named, 'b', { command: 'b' });
  await removeServer(named, 'a');
  expect(JSON.parse(await readFile(join(dir, 'mcp.json'), 'utf8'))).toEqual({
    servers: { b: { command: 'b' } },
  });
});
