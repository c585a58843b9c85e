import { execFile } from 'node:child_process';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callTool, connectClient, rawRequest } from '../support/mcp-endpoints.ts';
import { type ServingPml, servePml } from '../support/run-pml.ts';
import { makeTemporaryDir } from '../support/temporary-dir.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PARTS = [
  'src',
  'scripts',
  'bin',
  'config',
  'assets',
  'docs',
  'examples',
  'package.json',
  'package-lock.json',
];
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json'];

/** All that is added, in `src/operations/greet-person.ts`. */
const OPERATION = `import { z } from 'zod';
import { operation } from '../../src/operations/operation.ts';

export const greetPerson = operation({
  name: 'greet_person',
  right: 'read',
  summary: 'Greets a person',
  input: z.strictObject({ name: z.string().min(1) }),
  output: z.object({ greeting: z.string(), servers: z.number() }),
  http: { method: 'GET', path: '/greetings/:name' },
  mcp: {
    tool: 'pml_greet_person',
    place: 6,
    title: 'Greet',
    description: 'Greet a person.',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  async run({ gateway }, { name }) {
    return { greeting: \`Hello, \${name}!\`, servers: (await gateway.servers()).length };
  },
});
`;

const GREETED = { greeting: 'Hello, Ada!', servers: 0 };

let dir: Awaited<ReturnType<typeof makeTemporaryDir>>;
let tree: string;
let pml: ServingPml;

/** A copy of this tree with one more file, built as it is published. */
beforeAll(async () => {
  dir = await makeTemporaryDir();
  tree = join(dir.path, 'tree');
  for (const part of [...PARTS, ...SETTINGS])
    await cp(join(ROOT, part), join(tree, part), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  await writeFile(join(tree, 'src/operations/greet-person.ts'), OPERATION);
  await run(process.execPath, ['scripts/build.ts'], { cwd: tree });
  pml = await servePml({
    data: join(dir.path, 'data'),
    config: { mcpServers: {} },
    launcher: join(tree, 'bin/pml.js'),
  });
}, 300_000);

afterAll(async () => {
  await pml?.stop();
  await dir.remove();
});

const get = async (path: string) => {
  const reply = await fetch(`${pml.url}${path}`, { headers: { authorization: `Bearer ${pml.token}` } });
  return await reply.json();
};

/** Compiles one of the projects of the copy with another file in it. */
async function typesIn(project: string, file: string, text: string): Promise<string> {
  await writeFile(join(tree, project, file), text);
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', project, '--noEmit'], { cwd: tree }).catch(
    (failed: { stdout: string }) => failed,
  );
  return stdout;
}

test('[OP-10] a file in src/operations becomes an operation over HTTP and in the OpenAPI document', async () => {
  expect(await get('/api/greetings/Ada')).toEqual(GREETED);
  const { paths } = (await get('/api/openapi.json')) as { paths: Record<string, Record<string, object>> };
  expect(paths['/api/greetings/{name}']?.get).toMatchObject({ operationId: 'greet_person' });
});

test('[OP-10] it becomes a tool over MCP, if it is marked as one', async () => {
  const headers = { authorization: `Bearer ${pml.token}` };
  const toServer: typeof fetch = (input, init) => {
    const asked = new Request(input, init);
    return fetch(`${pml.url}${new URL(asked.url).pathname}`, init);
  };
  const client = await connectClient(toServer, { era: 'modern', headers });
  const { tools } = (await rawRequest(client, 'tools/list')) as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name).at(-1)).toBe('pml_greet_person');
  // One more small tool has room in the 5 KB of the list.
  expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThanOrEqual(5 * 1024);
  const { structuredContent } = await callTool(client, 'pml_greet_person', { name: 'Ada' });
  expect(structuredContent).toEqual(GREETED);
});

test('[OP-10] it becomes a method of the published client, with its types', async () => {
  const use = `import { connect } from './client.js';
    const pml = await connect({ url: process.argv[2]!, token: process.argv[3]! });
    const { greeting, servers } = await pml.greetPerson({ name: 'Ada' });
    console.log(JSON.stringify({ greeting: greeting.trim(), servers: servers + 0 }));
    // @ts-expect-error A name is needed.
    pml.greetPerson satisfies (input: { readonly nme: string }) => unknown;
  `;
  await writeFile(
    join(tree, 'dist/tsconfig.json'),
    JSON.stringify({
      extends: '../tsconfig.json',
      compilerOptions: { paths: {} },
      include: ['use.ts'],
      exclude: [],
    }),
  );
  expect(await typesIn('dist', 'use.ts', use)).toBe('');
  const { stdout } = await run(process.execPath, [join(tree, 'dist/use.ts'), pml.url, pml.token]);
  expect(JSON.parse(stdout)).toEqual(GREETED);
});

test('[OP-10] the page has the type of its answer', async () => {
  const page = `import type { Answer } from '../shared/api-types.ts';
    export const shown = ({ greeting, servers }: Answer<'greet_person'>) => greeting.repeat(servers);
    // @ts-expect-error It has no such field.
    export const wrong = ({ gretting }: Answer<'greet_person'>) => gretting;
  `;
  expect(await typesIn('src/surfaces/dashboard/app', 'greet.ts', page)).toBe('');
});

test('[OP-10] the command line runs it, and prints its answer as JSON', async () => {
  const call = ['call', 'greet_person', '{"name": "Ada"}', '--json', '--data', join(dir.path, 'data')];
  const { stdout } = await run(process.execPath, [join(tree, 'bin/pml.js'), ...call]);
  expect(JSON.parse(stdout)).toEqual(GREETED);
});

test('[OP-10] the committed table is the one made from the folder', async () => {
  const made = await readFile(join(tree, 'src/operations/table.ts'), 'utf8');
  const committed = await readFile(join(ROOT, 'src/operations/table.ts'), 'utf8');
  expect(made.split('\n').filter((line) => !line.includes('greetPerson'))).toEqual(committed.split('\n'));
});
