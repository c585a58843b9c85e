import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { UpstreamFailure } from '../../src/engine/ports.ts';
import type { MemoryServer } from '../memory/upstream-server.ts';
import { connectClient, ERAS, fetchInto, openEndpoints, rawRequest } from '../support/mcp-endpoints.ts';
import { NOBODY, testGateway, tool } from '../support/test-gateway.ts';

const BROKEN: UpstreamFailure = {
  code: 'upstream_unavailable',
  errorType: 'NETWORK',
  message: 'Server "late" is not available: it ended with "API_KEY is required"',
};

/** A server that does not start until it is mended. */
function lateServer() {
  let isMended = false;
  const server: MemoryServer = {
    name: 'late',
    tools: [tool('read', () => 'read')],
    get startFailure() {
      return isMended ? undefined : BROKEN;
    },
  } as MemoryServer;
  return {
    server,
    mend: () => {
      isMended = true;
    },
  };
}

/** Seconds become milliseconds. */
const soon = async (ms: number, signal?: AbortSignal) =>
  void (await setTimeout(ms / 1_000, undefined, signal && { signal }));

test('[UP-52] a server that could not be listed is listed once it works, without a call', async () => {
  const { server, mend } = lateServer();
  const { gateway } = await testGateway({ servers: [server], sleep: soon });
  expect(await gateway.absentServers()).toMatchObject([{ name: 'late', reason: BROKEN.message }]);
  mend();
  await expect.poll(async () => (await gateway.servers())[0]?.tools).toBe(1);
  await expect.poll(() => gateway.absentServers()).toEqual([]);
  expect((await gateway.executeTool({ tool: 'late:read', arguments: {} }, NOBODY)).status).toBe('success');
});

test.each(ERAS)(
  '[MCP-50] an agent reads which servers are missing and why, on both lanes, %s',
  async (era) => {
    const { server, mend } = lateServer();
    const { gateway } = await testGateway({ servers: [server], sleep: soon });
    const fetcher = fetchInto(openEndpoints(gateway));
    for (const path of ['/mcp', '/mcp/all']) {
      const client = await connectClient(fetcher, { era, path });
      expect(client.getInstructions()).toContain('Not available: late (Server "late" is not available');
      expect(client.getInstructions()).toContain('API_KEY is required');
    }
    const native = await connectClient(fetcher, { era: 'legacy', path: '/mcp/all' });
    const changed = Promise.withResolvers<void>();
    native.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tools/list_changed') changed.resolve();
    };
    mend();
    await changed.promise;
    expect((await rawRequest(native, 'tools/list')).tools).toMatchObject([{ name: 'late__read' }]);
    const later = await connectClient(fetcher, { era });
    expect(later.getInstructions()).not.toContain('Not available');
  },
);
