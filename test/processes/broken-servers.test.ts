import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runPml, type ServingPml, servePml } from '../support/run-pml.ts';
import { makeTemporaryDir } from '../support/temporary-dir.ts';

const WORKBENCH = fileURLToPath(new URL('../fixtures/servers/stdio-server.ts', import.meta.url));

let serving: ServingPml;
let client: Client;
let late: string;
let folder: Awaited<ReturnType<typeof makeTemporaryDir>>;

/** One server that works beside all kinds that do not. */
beforeAll(async () => {
  folder = await makeTemporaryDir();
  late = join(folder.path, 'late-server.ts');
  const node = process.execPath;
  const mcpServers = {
    bench: { command: node, args: [WORKBENCH] },
    missing: { command: 'no-such-command' },
    keyless: { command: node, args: ['-e', 'console.error("API_KEY is required"); process.exit(1)'] },
    offline: { url: 'http://127.0.0.1:2/mcp' },
    torn: { command: node, args: ['-e', 'import("./not-there.mjs")'] },
    unset: { url: 'https://${PML_TEST_NOT_SET}/mcp' },
    late: { command: node, args: [late] },
  };
  serving = await servePml({ data: folder.path, config: { mcpServers }, args: ['--verbose'] });
  client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${serving.token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${serving.url}/mcp/`), { requestInit: { headers } }),
  );
});

afterAll(async () => {
  await client?.close();
  await serving?.stop();
  await folder?.remove();
});

async function call(name: string, args: Record<string, unknown>) {
  const { structuredContent } = await client.callTool({ name, arguments: args });
  return structuredContent as {
    readonly status: string;
    readonly tools: { readonly tool_id: string }[];
    readonly note: string;
    readonly error: { readonly message: string };
    readonly result: unknown;
  };
}

test('[SEARCH-12] [CFG-15] the first search finds tools, and names the servers that it could not search', async () => {
  // It waits for those that start, but not without an end: on a busy machine, one of the next is the first that finds all.
  const found = async () => {
    const { tools, note } = await call('pml_search_tools', { query: 'echo a text' });
    return [...tools.map(({ tool_id }) => tool_id), note].join('\n');
  };
  for (const told of [
    'bench:echo',
    '"no-such-command" cannot be started',
    'API_KEY is required',
    'uses the variable PML_TEST_NOT_SET, which is not set',
  ])
    await expect.poll(found).toContain(told);
});

test('[UP-50] [CFG-15] a call says why the server of its tool is missing', async () => {
  const reasons = {
    'missing:x': /"no-such-command" cannot be started/,
    'keyless:x': /API_KEY is required/,
    'unset:x': /PML_TEST_NOT_SET, which is not set/,
  };
  for (const [tool, reason] of Object.entries(reasons)) {
    const { status, error } = await call('pml_execute', { tool, arguments: {} });
    expect(status).toBe('error');
    expect(error.message).toMatch(reason);
  }
});

test('[UP-51] a bare tool name is enough where only one server has the tool', async () => {
  expect(await call('pml_execute', { tool: 'echo', arguments: { text: 'hello' } })).toMatchObject({
    status: 'success',
  });
});

test('[UP-50] [UP-51] a server that is repaired while the gateway runs is found by the next call', async () => {
  expect((await call('pml_execute', { tool: 'late:echo', arguments: {} })).error.message).toContain(
    'Tool late:echo is not available',
  );
  await writeFile(late, `await import(${JSON.stringify(WORKBENCH)});\n`);
  const mended = await call('pml_execute', { tool: 'late:echo', arguments: { text: 'hello' } });
  expect(mended).toMatchObject({ status: 'success' });
  const { error } = await call('pml_execute', { tool: 'echo', arguments: {} });
  expect(error.message).toContain('"echo" is a tool of bench and late');
});

test('[HTTP-9] requests for metadata get JSON, not a page', async () => {
  const response = await fetch(`${serving.url}/.well-known/oauth-protected-resource`);
  expect(response.headers.get('content-type')).toContain('application/json');
  expect(response.ok).toBe(false);
});

test('[CLI-13] serve --verbose logs servers, runs and calls', async () => {
  for (const told of ['Server bench is ready', 'A run started', 'Called bench:echo', 'A run ended'])
    await expect.poll(() => serving.output().stderr).toContain(told);
});

test('[CLI-12] doctor tests every server, through the running gateway and without one', async () => {
  const look = () => runPml(['doctor', '--data', folder.path], { cwd: folder.path });
  const verdict = async () => {
    const { code, stdout } = await look();
    expect(code).toBe(1);
    expect(stdout).toContain('2 of 7 servers work');
    expect(stdout).toMatch(/✗ servers {4}missing: .*"no-such-command" cannot be started.*\n {4}→ /);
    expect(stdout).toMatch(
      /✗ servers {4}keyless: .*lacks a key .*\n.*API_KEY is required\n {4}→ .*"env": \{"API_KEY"/,
    );
    expect(stdout).toMatch(/✗ servers {4}offline: .*ECONNREFUSED.*\n {4}→ Check the address/);
    expect(stdout).toMatch(/✗ servers {4}torn: [^→]*Cannot find module[^→]*→ Its program is incomplete/);
    expect(stdout).toMatch(/✗ servers {4}unset: .*PML_TEST_NOT_SET, which is not set.*\n {4}→ /);
    expect(stdout).not.toMatch(/✗ servers {4}(?:bench|late)/);
  };
  await verdict();
  await client.close();
  await serving.stop();
  await verdict();
});

test('[SEARCH-12] a search without a gateway names the servers whose tools were never listed', async () => {
  const fresh = await makeTemporaryDir();
  try {
    const config = join(fresh.path, 'pml.json');
    const bench = { command: process.execPath, args: [WORKBENCH] };
    await writeFile(config, JSON.stringify({ mcpServers: { bench } }));
    const args = ['search', 'echo a text', '--config', config, '--data', join(fresh.path, 'data')];
    const { stderr } = await runPml(args, { cwd: fresh.path });
    expect(stderr).toContain('Not searched: bench (its tools were never listed; "pml serve" starts it)');
  } finally {
    await fresh.remove();
  }
});
