import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { toolId } from '../../src/core/vocabulary/ids.ts';
import type { JsonObject, Settings } from '../../src/engine/ports.ts';
import { nativeName } from '../../src/surfaces/mcp/native-endpoint.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import {
  type ConnectOptions,
  callTool,
  connectClient,
  ERAS,
  fetchInto,
  openEndpoints,
  rawRequest,
} from '../support/mcp-endpoints.ts';
import { settingsFor } from '../support/settings-for.ts';
import { testGateway, tool } from '../support/test-gateway.ts';

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };

const disk: MemoryServer = {
  name: 'disk',
  tools: [
    tool('read', ({ path }) => `content of ${path}`, { inputSchema: SCHEMA, title: 'Read a file' }),
    tool('write', () => 'written', { annotations: { destructiveHint: true } }),
  ],
};
const mail: MemoryServer = { name: 'mail.work', tools: [tool('send', () => 'sent')] };

async function open(
  options: ConnectOptions,
  servers: readonly MemoryServer[] = [disk, mail],
  settings: Partial<Settings> = {},
) {
  const made = await testGateway({ servers, settings, attended: false });
  const endpoints = openEndpoints(made.gateway);
  const client = await connectClient(fetchInto(endpoints), { path: '/mcp/all', ...options });
  return { ...made, client };
}

const listed = async (client: Client) =>
  (await rawRequest(client, 'tools/list')).tools as readonly (JsonObject & { name: string })[];

describe.each(ERAS)('/mcp/all, %s', (era) => {
  test('[MCP-47] the tools of all servers are listed unchanged, under names that clients accept', async () => {
    const { client } = await open({ era });
    const tools = await listed(client);
    expect(tools.map(({ name }) => name)).toEqual([
      'disk__read',
      'disk__write',
      expect.stringMatching(/^mail_work__send_[0-9a-f]{8}$/),
    ]);
    const { definition } = disk.tools![0]!;
    const task = era === 'legacy' && { execution: { taskSupport: 'optional' } };
    expect(tools[0]).toEqual({ ...definition, name: 'disk__read', ...task });
    expect(client.getServerCapabilities()?.tools).toEqual({ listChanged: true });
    expect(client.getInstructions()).toContain('server__tool');
  });

  test('[MCP-48] a call has policy, trace and session, and its result is the tool’s own', async () => {
    const { client, gateway, store } = await open({ era });
    const read = await callTool(client, 'disk__read', { path: 'a' });
    expect(read.content).toEqual([{ type: 'text', text: '"content of a"' }]);
    expect(read.structuredContent).toBeUndefined();
    const [, , sendName] = (await listed(client)).map(({ name }) => name);
    await callTool(client, sendName!, {});
    await gateway.settled();
    const traces = await store.traces.list({ limit: 9 });
    expect(traces.map(({ executedPath }) => executedPath)).toEqual([['mail.work:send'], ['disk:read']]);
    if (era === 'legacy') expect(new Set(traces.map(({ sessionId }) => sessionId)).size).toBe(1);
    const asked = await callTool(client, 'disk__write', {});
    expect(asked.isError).toBe(true);
    expect(asked.content[0]!.text).toMatch(/needs approval .* pml runs approve /);
    const unknown = await callTool(client, 'disk__raed', {});
    expect(unknown.isError).toBe(true);
    expect(unknown.content[0]!.text).toContain('did you mean disk__read?');
  });

  test('[APP-1] the view of an app is read through the gateway, and calls its tools by their own names', async () => {
    const page = { uri: 'ui://board/view.html', mimeType: 'text/html;profile=mcp-app', text: '<p>board</p>' };
    const board: MemoryServer = {
      name: 'board',
      tools: [
        tool('show', () => 'shown', { _meta: { ui: { resourceUri: page.uri } } }),
        tool('read', () => 'of board'),
        tool('refresh', () => 'fresh', { execution: { taskSupport: 'required' } }),
      ],
      requests: { 'resources/read': ({ uri }) => ({ contents: uri === page.uri ? [page] : [] }) },
    };
    const { client } = await open({ era }, [disk, board]);
    const shown = (await listed(client)).find(({ name }) => name === 'board__show');
    const uri = (shown!._meta as { ui: { resourceUri: string } }).ui.resourceUri;
    expect(uri).toBe('ui://board/board/view.html');
    expect(await rawRequest(client, 'resources/read', { uri })).toMatchObject({
      contents: [{ ...page, uri }],
    });
    expect((await callTool(client, 'refresh', {})).content).toEqual([{ type: 'text', text: '"fresh"' }]);
    // Two servers have it, so the name is ambiguous.
    expect((await callTool(client, 'read', { path: 'a' })).isError).toBe(true);
  });

  test('[TASK-1] a tool that requires a task can be called without one: PML creates it', async () => {
    const slow = tool('research', () => 'found', { execution: { taskSupport: 'required' } });
    const { client } = await open({ era }, [{ name: 'lab', tools: [slow] }]);
    const [listedTool] = await listed(client);
    expect(listedTool?.execution).toEqual(era === 'legacy' ? { taskSupport: 'optional' } : undefined);
    expect((await callTool(client, 'lab__research', {})).content).toEqual([
      { type: 'text', text: '"found"' },
    ]);
  });

  test('[MCP-48] tools that never run or are excluded are neither listed nor callable', async () => {
    const settings = { permissions: { ...settingsFor([]).permissions, deny: ['mail.work:*'] } };
    const { client } = await open({ era }, [disk, mail], settings);
    expect((await listed(client)).map(({ name }) => name)).toEqual(['disk__read', 'disk__write']);
    expect((await callTool(client, nativeName(toolId('mail.work', 'send')), {})).isError).toBe(true);
  });

  test('[MCP-49] with ?meta=1 the tools of PML are listed too, and work', async () => {
    const { client } = await open({ era, path: '/mcp/all?meta=1' });
    const names = (await listed(client)).map(({ name }) => name);
    expect(names.slice(0, 5).every((name) => name.startsWith('pml_'))).toBe(true);
    expect(names).toContain('disk__read');
    const code = 'return await mcp.disk.read({ path: "b" })';
    const ran = await callTool(client, 'pml_execute', { code });
    expect(ran.structuredContent).toMatchObject({ status: 'success', result: 'content of b' });
    expect((await callTool(client, 'disk__read', { path: 'c' })).content[0]!.text).toContain('content of c');
  });
});

test('[MCP-47] clients are notified of a changed list when the new one can be read', async () => {
  const { client, gateway } = await open({ era: 'legacy' });
  const changed = Promise.withResolvers<void>();
  client.fallbackNotificationHandler = async ({ method }) => {
    if (method === 'notifications/tools/list_changed') changed.resolve();
  };
  const { permissions, ...settings } = gateway.settings();
  await gateway.reload({ ...settings, permissions: { ...permissions, deny: ['disk:write'] } });
  await changed.promise;
  expect((await listed(client)).map(({ name }) => name)).not.toContain('disk__write');
});

test('[MCP-47] names are short, unique and independent of other servers', () => {
  const ids = [
    toolId('a', 'b__c'),
    toolId('a__b', 'c'),
    toolId('a', '_b'),
    toolId('a_', 'b'),
    toolId('s', 'ein/Wörk zeug'),
    toolId('server', 'x'.repeat(80)),
    toolId('server', `${'x'.repeat(80)}y`),
    toolId('a', 'b'),
  ];
  const names = ids.map((id) => nativeName(id));
  expect(new Set(names).size).toBe(ids.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(names.at(-1)).toBe('a__b');
  expect(names).toEqual(ids.map((id) => nativeName(id)));
});
