import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { servePml } from '../support/run-pml.ts';
import { serveFixture } from './fixture/serve-http.ts';
import type { Column } from './report.ts';
import { REVISIONS, type Revision, testServer } from './suite.ts';
import { startTokenProxy } from './token-proxy.ts';

const STDIO_FIXTURE = fileURLToPath(new URL('fixture/stdio-server.ts', import.meta.url));

/** How the gateway reaches the fixture, by the name the fixture has there. */
const ROUTES = {
  fixture: { title: 'gateway', revisions: REVISIONS },
  'fixture-stdio': { title: 'gateway, stdio', revisions: REVISIONS },
  // A server of the older era cannot have all that the newer one asks for.
  'fixture-2025': { title: 'gateway, 2025 server', revisions: ['2025-11-25'] },
} as const;

export type ColumnsByRevision = ReadonlyMap<Revision, readonly Column[]>;

/** The fixture itself. Scenarios change what it lists, so one after the other. */
export async function testDirectly(dir: string): Promise<ColumnsByRevision> {
  const fixture = await serveFixture();
  try {
    const columns = new Map<Revision, Column[]>();
    for (const revision of REVISIONS) {
      const outcomes = await testServer(fixture.url, revision, join(dir, `direct-${revision}`));
      columns.set(revision, [{ title: 'direct', outcomes }]);
    }
    return columns;
  } finally {
    await fixture.close();
  }
}

/** The fixture behind a gateway's transparent endpoints, a column for each route. */
export async function testThroughGateway(dir: string): Promise<ColumnsByRevision> {
  const columns = new Map<Revision, Column[]>(REVISIONS.map((revision) => [revision, []]));
  const { urlOf, close } = await fixtureBehindGateway(dir);
  try {
    for (const [server, { title, revisions }] of Object.entries(ROUTES)) {
      for (const revision of revisions) {
        const outcomes = await testServer(urlOf(server), revision, join(dir, `${server}-${revision}`));
        columns.get(revision)!.push({ title, outcomes });
      }
    }
  } finally {
    await close();
  }
  return columns;
}

export interface GatewayedFixture {
  /** Where a server of the gateway is met without a token. */
  urlOf(server: string): string;
  close(): Promise<void>;
}

export async function fixtureBehindGateway(dir: string): Promise<GatewayedFixture> {
  const both = await serveFixture();
  const older = await serveFixture({ era: 'legacy' });
  const servers: Record<keyof typeof ROUTES, object> = {
    fixture: { url: both.url },
    'fixture-stdio': { command: process.execPath, args: [STDIO_FIXTURE] },
    'fixture-2025': { url: older.url },
  };
  const gateway = await servePml({ data: join(dir, 'data'), config: { mcpServers: servers } });
  const proxy = await startTokenProxy(gateway.url, gateway.token);
  return {
    urlOf: (server) => `${proxy.url}/mcp/servers/${server}`,
    close: async () => {
      await proxy.close();
      await gateway.stop();
      await Promise.all([both.close(), older.close()]);
    },
  };
}
