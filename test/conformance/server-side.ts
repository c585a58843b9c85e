import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serveFixture } from './fixture/serve-http.ts';
import type { Column } from './report.ts';
import { type RunningGateway, startGateway } from './running-gateway.ts';
import { type Revision, testServer } from './suite.ts';
import { startTokenProxy } from './token-proxy.ts';

const STDIO_FIXTURE = fileURLToPath(new URL('fixture/stdio-server.ts', import.meta.url));

/** The fixture behind the gateway, by its name there; the gateway reaches it in different ways. */
const ROUTES = { http: 'through the gateway, HTTP', stdio: 'through the gateway, stdio' };

/** The fixture itself, and unless only that is wanted, the fixture behind a gateway. */
export async function testFixture(
  revisions: readonly Revision[],
  dir: string,
  withGateway: boolean,
): Promise<Map<Revision, readonly Column[]>> {
  const fixture = await serveFixture();
  try {
    const direct = await eachRevision(revisions, (revision) =>
      column('direct', fixture.url, revision, join(dir, `direct-${revision}`)),
    );
    if (!withGateway) return direct;
    const data = join(dir, 'data');
    mkdirSync(data);
    const servers = {
      http: { url: fixture.url },
      stdio: { command: process.execPath, args: [STDIO_FIXTURE] },
    };
    const gateway = await startGateway(servers, data);
    try {
      return await eachRevision(revisions, async (revision) => [
        ...direct.get(revision)!,
        ...(await throughGateway(gateway, revision, dir)),
      ]);
    } finally {
      await gateway.close();
    }
  } finally {
    await fixture.close();
  }
}

async function throughGateway(gateway: RunningGateway, revision: Revision, dir: string): Promise<Column[]> {
  const columns: Column[] = [];
  for (const [server, title] of Object.entries(ROUTES)) {
    const proxy = await startTokenProxy(new URL(`/mcp/servers/${server}`, gateway.url).href, gateway.token);
    columns.push(...(await column(title, proxy.url, revision, join(dir, `${server}-${revision}`))));
    await proxy.close();
  }
  return columns;
}

async function column(title: string, url: string, revision: Revision, dir: string): Promise<Column[]> {
  return [{ title, outcomes: await testServer(url, revision, dir) }];
}

/** One after the other: scenarios change what the fixture lists. */
async function eachRevision<T>(
  revisions: readonly Revision[],
  run: (revision: Revision) => Promise<T>,
): Promise<Map<Revision, T>> {
  const results = new Map<Revision, T>();
  for (const revision of revisions) results.set(revision, await run(revision));
  return results;
}
