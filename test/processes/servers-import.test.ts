import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startApiMock } from '../fixtures/servers/api-mock.ts';
import { runPml } from '../support/run-pml.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('[SRVCMD-11] an OpenAPI document is imported and works; [SRVCMD-10] nothing is added unseen', async () => {
  const data = await temporaryDir();
  const document = {
    openapi: '3.1.0',
    info: { title: 'Pet Shop', version: '1' },
    servers: [{ url: 'https://pets.example/v1' }],
    paths: { '/pets': { get: { operationId: 'listPets' } } },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
  };
  const mock = await startApiMock(document);
  onTestFinished(mock.close);
  const file = join(data, 'pets.json');
  await writeFile(file, JSON.stringify(document));

  const unseen = await runPml(['servers', 'import', file, '--data', data]);
  expect(unseen).toMatchObject({ code: 2, stderr: expect.stringContaining('https://pets.example') });
  expect(unseen.stderr).toContain("--header 'X-Key=${KEY}'");
  await expect(readFile(join(data, 'pml.json'))).rejects.toThrow('ENOENT');

  const added = await runPml(['servers', 'import', file, '--url', mock.url, '--yes', '--data', data]);
  expect(added, added.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('It works: 1 tool.'),
  });
  expect(JSON.parse(await readFile(join(data, 'pml.json'), 'utf8'))).toEqual({
    mcpServers: { pet_shop: { openapi: file, url: mock.url } },
  });
  const server = {
    name: 'a/echo',
    packages: [{ registryType: 'npm', identifier: 'echo-mcp', version: '1.0.0' }],
  };
  await writeFile(join(data, 'mirror.json'), JSON.stringify({ servers: [{ server }] }));
  const mirror = ['--mirror', join(data, 'mirror.json'), '--yes', '--no-start', '--json', '--data', data];
  const listed = await runPml(['servers', 'import', 'echo', ...mirror]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ name: 'echo' });
  expect(JSON.parse(await readFile(join(data, 'pml.json'), 'utf8')).mcpServers.echo).toEqual({
    command: 'npx',
    args: ['-y', 'echo-mcp@1.0.0'],
  });
});
