import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { FULL_SCOPE } from '../../src/core/vocabulary/principal.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { callTool } from '../support/mcp-endpoints.ts';
import { peopleGateway } from '../support/people-gateway.ts';
import { tool } from '../support/test-gateway.ts';

const SHELF: MemoryServer = {
  name: 'shelf',
  tools: [tool('look', () => 'books'), tool('burn', () => 'ash')],
};
const CLIENTS = [
  { name: 'claude-*', scope: { ...FULL_SCOPE, lane: 'native' as const } },
  { name: 'reader', scope: { ...FULL_SCOPE, tools: { allow: ['shelf:*'], deny: ['shelf:burn'] } } },
];

async function library() {
  const made = await peopleGateway({ clients: CLIENTS }, [SHELF]);
  const key = await made.keyFor('agent', 'one', 'ada');
  const connect = async (name: string, mode: 'legacy' | 'auto', { path = '/mcp', as = key } = {}) => {
    const client = new Client({ name, version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${as}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(path, made.listener.url), { requestInit }),
    );
    onTestFinished(() => client.close());
    const listed = async () => (await client.listTools()).tools.map((one) => one.name);
    return { client, listed };
  };
  return { ...made, connect };
}

const NATIVE = ['desk__echo', 'desk__write', 'shelf__burn', 'shelf__look'];

test.each(['legacy', 'auto'] as const)(
  '[SCOPE-11] the name of a client chooses its lane and tools (%s)',
  async (mode) => {
    const { connect, keyFor } = await library();
    expect((await (await connect('claude-code', mode)).listed()).toSorted()).toEqual(NATIVE);
    expect((await (await connect('other', mode)).listed())[0]).toBe('pml_search_tools');
    const reader = await connect('reader', mode);
    expect((await reader.listed())[0]).toBe('pml_search_tools');
    const call = (id: string) => callTool(reader.client, 'pml_execute', { tool: id, arguments: {} });
    expect((await call('shelf:look')).isError).not.toBe(true);
    for (const id of ['shelf:burn', 'desk:echo']) {
      const refused = await call(id);
      expect(refused.isError).toBe(true);
      expect(JSON.stringify(refused.content)).toContain('\\"clients\\" in pml.json');
    }
    expect(await (await connect('reader', mode, { path: '/mcp/all' })).listed()).toEqual(['shelf__look']);
    // A key's own lane comes first, and a profile adds nothing to what the key may use.
    const tools = { allow: ['desk:echo'], deny: [] };
    const as = await keyFor('agent', 'two', 'bob', { ...FULL_SCOPE, lane: 'search', tools });
    expect((await (await connect('claude-code', mode, { as })).listed())[0]).toBe('pml_search_tools');
    const both = await connect('reader', mode, { as, path: '/mcp' });
    expect((await callTool(both.client, 'pml_execute', { tool: 'shelf:look', arguments: {} })).isError).toBe(
      true,
    );
  },
);
