/** How long the graph page takes to lay out a thousand linked nodes, and how smoothly they move. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { createRandom, type Random } from '../src/core/numeric/random.ts';
import { EDGE_SOURCES, EDGE_TYPES } from '../src/core/vocabulary/edge.ts';
import type { Graph, GraphEdge, GraphNode } from '../src/surfaces/dashboard/shared/api-types.ts';
import { ensureBuiltPage } from '../test/support/built-page.ts';
import { launchBrowser, WIDE } from '../test/support/launch-browser.ts';
import type { BenchReport, BenchRow } from './run.ts';
import { percentile } from './support/percentile.ts';
import { WATCH_FRAMES } from './support/watch-frames.ts';

const SIZE = { nodes: 1_000, capabilities: 60, servers: 25, edges: 3_000 };
const MOVES = 120;
const PAGE = fileURLToPath(new URL('../dist/dashboard/', import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** Records the layout time that the worker reports. */
const WATCH_WORKER = `(() => {
  const Plain = Worker;
  globalThis.Worker = class extends Plain {
    constructor(...args) {
      super(...args);
      super.addEventListener('message', ({ data }) => { globalThis.layoutMs = data.ms; });
    }
  };
})()`;

export async function bench(): Promise<BenchReport> {
  await ensureBuiltPage();
  const server = await serve(madeUpGraph(createRandom(1)));
  const { port } = server.address() as { port: number };
  const browser = await launchBrowser();
  try {
    const page = await (await browser.newContext({ viewport: WIDE })).newPage();
    for (const content of [WATCH_WORKER, WATCH_FRAMES]) await page.addInitScript({ content });
    const start = performance.now();
    await page.goto(`http://127.0.0.1:${port}/graph`);
    const host = page.getByLabel(/^Graph of/);
    await host.waitFor({ timeout: 120_000 });
    const drawn = performance.now() - start;
    const layout = await page.evaluate<number>('layoutMs');
    const what = `${SIZE.nodes} nodes, ${SIZE.edges} edges`;
    return {
      name: 'dashboard-graph',
      rows: [
        { label: `${what}: layout in the worker`, value: layout, unit: 'ms', goal: '<= 2000 ms' },
        { label: `${what}: from address to drawing`, value: drawn, unit: 'ms' },
        ...(await panned(page, what)),
      ],
    };
  } finally {
    await browser.close();
    server.close();
    server.closeAllConnections();
  }
}

/** Drags the background, as people do. */
async function panned(page: Page, what: string): Promise<BenchRow[]> {
  const box = (await page.locator('.graph-view').boundingBox())!;
  const [x, y] = [box.x + 12, box.y + 12];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 4, y + 4);
  await page.evaluate('frames.length = 0');
  for (let i = 0; i < MOVES; i++) await page.mouse.move(x + 150 + 150 * Math.sin(i / 9), y + i);
  const frames = await page.evaluate<number[]>('frames');
  await page.mouse.up();
  return [
    { label: `${what}: frame while panning, p50`, value: percentile(frames, 0.5), unit: 'ms' },
    {
      label: `${what}: frame while panning, p95`,
      value: percentile(frames, 0.95),
      unit: 'ms',
      goal: '< 50 ms',
    },
  ];
}

/** Groups of tools that are mostly used together, as servers' tools are. */
function madeUpGraph(random: Random): Graph {
  const { nodes: size, capabilities, servers, edges: wanted } = SIZE;
  const base = { cluster: null, pagerank: 1 / size };
  const tools = Array.from({ length: size - capabilities }, (_, i): GraphNode => {
    const server = i % servers;
    return {
      ...base,
      id: `s${server}:tool_${i}`,
      kind: 'tool',
      label: `tool_${i}`,
      server: `s${server}`,
      community: server,
    };
  });
  const groups = Map.groupBy(tools, ({ community }) => community);
  const any = <T>(all: readonly T[]) => all[random.int(all.length)]!;
  const found = Array.from({ length: capabilities }, (_, i): GraphNode => {
    const uuid = `00000000-0000-0000-0000-${String(i).padStart(12, '0')}`;
    const community = i % servers;
    const used = Array.from({ length: 5 }, () => any(groups.get(community)!).id);
    return {
      ...base,
      id: `capability:${uuid}`,
      kind: 'capability',
      label: `capability_${i}`,
      server: null,
      community,
      tools_used: [...new Set(used)],
    };
  });
  const edges = new Map<string, GraphEdge>();
  while (edges.size < wanted) {
    const from = any(tools);
    const to = any(random.next() < 0.85 ? groups.get(from.community)! : tools);
    const edge_type = any(EDGE_TYPES);
    if (from === to) continue;
    edges.set(`${from.id} ${edge_type} ${to.id}`, {
      source: from.id,
      target: to.id,
      edge_type,
      edge_source: any(EDGE_SOURCES),
      weight: random.next(),
      observed_count: random.int(9),
      invocation_count: 9,
    });
  }
  return { nodes: [...tools, ...found], edges: [...edges.values()] };
}

/** Serves the built page and this graph; the rest of the API is missing. */
async function serve(graph: Graph): Promise<Server> {
  const server = createServer(async ({ url = '/' }, reply) => {
    const { pathname } = new URL(url, 'http://bench');
    if (pathname.startsWith('/api/')) {
      const body =
        pathname === '/api/graph' ? graph : pathname === '/api/stats' ? { last_event_id: '' } : null;
      reply.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    const type = TYPES[extname(pathname)];
    const content = await readFile(join(PAGE, type ? pathname : 'index.html'));
    reply.writeHead(200, { 'content-type': type ?? 'text/html' }).end(content);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return server;
}
