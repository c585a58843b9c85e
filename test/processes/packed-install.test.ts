import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startNpx, systemNode } from '../support/run-pml.ts';
import { makeTemporaryDir } from '../support/temporary-dir.ts';
import { typeCheck } from '../support/type-check.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let dir: { path: string; remove(): Promise<void> };
let app: string;
let tarball: string;

/** As a user gets it: packed, and installed in a folder that has nothing to do with this one. */
beforeAll(async () => {
  dir = await makeTemporaryDir();
  await run('npm', ['pack', '--pack-destination', dir.path], { cwd: ROOT });
  tarball = join(dir.path, (await readdir(dir.path)).find((name) => name.endsWith('.tgz')) ?? '');
  app = join(dir.path, 'app');
  const quietly = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', '--prefix', app, ...quietly, tarball]);
}, 300_000);

afterAll(() => dir.remove());

test('[PACK-1] the published package installs elsewhere and runs: built, with its data files, on its own Node', async () => {
  const home = join(app, 'node_modules/pml-gateway');
  expect(await readdir(home)).not.toContain('src');
  const { stdout: listed } = await run('tar', ['-tf', tarball]);
  expect(listed.trim().split('\n').length).toBeLessThanOrEqual(200);
  expect(await readdir(join(home, 'dist/dashboard'))).toContain('index.html');
  expect(await readdir(join(home, 'dist'))).toContain('docs.tar.gz');
  const doctor = [join(home, 'bin/pml.js'), 'doctor', '--json', '--data', join(dir.path, 'data')];
  const { stdout } = await run(systemNode(), doctor, { cwd: dir.path });
  const { healthy, checks } = JSON.parse(stdout);
  expect({ healthy, failed: checks.filter((c: { status: string }) => c.status === 'fail') }).toEqual({
    healthy: true,
    failed: [],
  });
}, 300_000);

test('[PACK-4] [PACK-5] "npx pml-gateway" starts the demo, and a program on the Node of the machine connects to it', async () => {
  const data = join(dir.path, 'served');
  const args = ['pml-gateway', 'serve', '--demo', '--port', '0', '--data', data];
  const { ready } = await startNpx(args, { cwd: app });
  expect(ready).toMatchObject({ servers: ['filesystem', 'memory', 'everything', 'thinking'] });
  const program = `import { connect, PmlError } from 'pml-gateway';
    const pml = await connect({ dataDir: process.argv[2] });
    const { servers } = await pml.listServers();
    const refused = await pml.getCapability({ slug: 'nothing' }).catch((error) => error);
    console.log(JSON.stringify({
      node: process.versions.node,
      servers: servers.map(({ name }) => name),
      refused: [refused instanceof PmlError, refused.code],
    }));`;
  await writeFile(join(app, 'use.mjs'), program);
  const { stdout } = await run(systemNode(), ['use.mjs', join(data, 'demo')], { cwd: app });
  const { stdout: version } = await run(systemNode(), ['--version']);
  expect(JSON.parse(stdout)).toEqual({
    node: version.trim().slice(1),
    servers: ready.servers,
    refused: [true, 'not_found'],
  });
}, 300_000);

test('[PACK-4] TypeScript knows the types of the client and of the guest', async () => {
  const client = `import { connect, PmlError, type PmlClient } from 'pml-gateway';
    const pml: PmlClient = await connect({ url: 'http://127.0.0.1:8080' });
    const { tools } = await pml.searchTools({ query: 'read a file', limit: 3 });
    const score: number | undefined = tools[0]?.final_score;
    const { status, result } = await pml.runCapability({ slug: 'weekly-report' });
    status satisfies string;
    if (new Error() instanceof PmlError) console.log(score, result);
    // @ts-expect-error There is no such field.
    await pml.searchTools({ query: 'read a file', limt: 3 });
    // @ts-expect-error The query is a text.
    await pml.searchTools({ query: 3 });
    // @ts-expect-error There is no such operation.
    await pml.serchTools({ query: 'read a file' });
    // @ts-expect-error There is no such answer.
    tools[0]?.finalScore;`;
  const guest = `import type {} from 'pml-gateway/guest';
    export async function program() {
      console.log(args.path, deps.before);
      const [file] = await Promise.all([mcp.disk!.read!({ path: args.path }), capabilities.learned!()]);
      // @ts-expect-error Arguments have names.
      await mcp.disk!.read!('a');
      return file;
    }`;
  const files = {
    'client.ts': client,
    'guest.ts': guest,
    'page.ts': await exampleOf('docs/client.md'),
    'example.ts': await readFile(join(ROOT, 'examples/use-client.ts'), 'utf8'),
  };
  expect(await typeCheck(app, files)).toBe('');
});

/** The first program on a page. */
async function exampleOf(page: string): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  return /^```ts\n(.*?)^```/ms.exec(text)?.[1] ?? '';
}
