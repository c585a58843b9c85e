import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openedGateway, runCommand } from '../../../../test/support/command-line.ts';
import { handMadeGateway } from '../../../../test/support/hand-made-gateway.ts';
import { temporaryDir } from '../../../../test/support/temporary-dir.ts';
import { graphStats, TypedGraph } from '../../../core/graph/typed-graph.ts';
import { toolId } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { GraphService } from '../../../engine/graph/graph-service.ts';
import type { GraphReport, GraphView } from '../../../engine/graph/graph-view.ts';

const [READ, WRITE] = [toolId('files', 'read'), toolId('files', 'write')];

const VIEW: GraphView = {
  nodes: [
    { id: READ, kind: 'tool', label: 'read', server: 'files', community: 0, cluster: null, pagerank: 0.4 },
    { id: WRITE, kind: 'tool', label: 'write', server: 'files', community: 0, cluster: null, pagerank: 0.6 },
  ],
  edges: [
    {
      source: READ,
      target: WRITE,
      edge_type: 'sequence',
      edge_source: 'inferred',
      weight: 0.35,
      observed_count: 2,
      invocation_count: 1_500,
    },
  ],
};

function reportOf(graph: TypedGraph, over: Partial<GraphReport> = {}): GraphReport {
  const capabilities = { total: 3, with_provides: 2, share_with_provides: 2 / 3 };
  return { ...graphStats(graph), communities: 1, traces: 1_234, capabilities, ...over };
}

function learned(): TypedGraph {
  const graph = new TypedGraph();
  for (let run = 0; run < 2; run++) {
    graph.observe({ from: READ, to: WRITE, type: 'sequence', calls: 1, paths: [] }, run);
  }
  graph.declare(WRITE, READ, 'dependency');
  return graph;
}

function shelved(over: Partial<GraphService> = {}) {
  const graph: GraphService = {
    view: async () => VIEW,
    node: () => Promise.reject(new Error('not asked for')),
    path: () => Promise.reject(new Error('not asked for')),
    stats: async () => reportOf(learned()),
    rebuild: async () => ({
      traces: 1_234,
      before: { nodes: 9, edges: 1 },
      after: { nodes: 7, edges: 20 },
    }),
    rebuilding: async () => ({ traces: 600, of: 1_234 }),
    ...over,
  };
  return { openGateway: async () => openedGateway(handMadeGateway({ graph })) };
}

test('[GRAPHUSE-11] nodes and edges are counted by kind, type and source, and so are programs with known data flow', async () => {
  const { code, out } = await runCommand(['graph'], shelved());
  expect(code).toBe(0);
  expect(out).toBe(
    [
      '2 tools, 0 capabilities, 0 operations, in 1 community; 1,234 traces stored\n',
      '\n',
      'EDGES        TEMPLATE  INFERRED  OBSERVED\n',
      'dependency   1         -         -\n',
      'contains     -         -         -\n',
      'provides     -         -         -\n',
      'sequence     -         1         -\n',
      'conditional  -         -         -\n',
      'alternative  -         -         -\n',
      'all          1         1         -\n',
      '\n',
      'Density 0.50: edges seen in runs per possible pair of nodes.\n',
      '2 of 3 learned programs (66.7 %) have data-flow edges (provides).\n',
    ].join(''),
  );
  const json = JSON.parse((await runCommand(['graph', 'stats', '--json'], shelved())).out);
  expect(json).toMatchObject({
    nodes: { tool: 2, capability: 0, operation: 0 },
    edges: { sequence: { inferred: 1 }, dependency: { template: 1 } },
    capabilities: { total: 3, with_provides: 2, share_with_provides: 2 / 3 },
  });
});

test('[GRAPHUSE-14] an empty graph is reported as empty', async () => {
  const none = { total: 0, with_provides: 0, share_with_provides: null };
  const empty = reportOf(new TypedGraph(), { communities: 0, traces: 0, capabilities: none });
  const system = shelved({ stats: async () => empty });
  expect((await runCommand(['graph', 'stats'], system)).out).toMatch(/^The graph is empty/);
  expect((await runCommand(['graph', 'stats', '--json'], system)).out).not.toMatch(/NaN|Infinity/);
});

test('[GRAPHUSE-12] the format follows the extension of the file, and --format overrides it', async () => {
  const dir = await temporaryDir();
  const exported = async (name: string, ...more: string[]) => {
    const file = join(dir, name);
    const { out } = await runCommand(['graph', 'export', file, ...more], shelved());
    expect(out).toBe(`Wrote 2 nodes and 1 edge to ${file}.\n`);
    return await readFile(file, 'utf8');
  };
  expect(JSON.parse(await exported('graph.json'))).toEqual(VIEW);
  expect(await exported('graph.graphml')).toMatch(/^<\?xml/);
  expect(await exported('graph.GV')).toMatch(/^digraph/);
  expect(await exported('graph', '--format', 'dot')).toMatch(/^digraph/);
  const { out } = await runCommand(['graph', 'export'], shelved());
  expect(JSON.parse(out)).toEqual(VIEW);
  expect(await runCommand(['graph', 'export', '--format', 'png'], shelved())).toMatchObject({
    code: 2,
    err: expect.stringContaining('json, graphml, dot'),
  });
});

test('[GRAPHUSE-12] no file is replaced without asking, and a failure leaves none behind', async () => {
  const file = join(await temporaryDir(), 'graph.json');
  await writeFile(file, 'mine');
  const refused = await runCommand(['graph', 'export', file], shelved());
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--force') });
  expect(await readFile(file, 'utf8')).toBe('mine');
  const told = await runCommand(['graph', 'export', file, '--force', '--json'], shelved());
  expect(JSON.parse(told.out)).toEqual({ file, format: 'json', nodes: 2, edges: 1 });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(VIEW);
  const failing = shelved({ view: () => Promise.reject(new PmlError('store_unavailable', 'gone')) });
  expect(await runCommand(['graph', 'export', `${file}.2`], failing)).toMatchObject({ code: 1 });
  await expect(readFile(`${file}.2`, 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('[GRAPHUSE-13] rebuild prints the counts before and after', async () => {
  const sentence = 'Rebuilt from 1,234 traces: 9 nodes and 1 edge before, 7 nodes and 20 edges now.\n';
  expect(await runCommand(['graph', 'rebuild'], shelved())).toMatchObject({
    code: 0,
    out: sentence,
    err: '',
  });
  const json = JSON.parse((await runCommand(['graph', 'rebuild', '--json'], shelved())).out);
  expect(json).toEqual({ traces: 1_234, before: { nodes: 9, edges: 1 }, after: { nodes: 7, edges: 20 } });
});

test('[GRAPHUSE-13] a waiting user sees the progress, until it is done', async () => {
  const done = Promise.withResolvers<void>();
  const system = shelved({
    async rebuild() {
      await done.promise;
      return { traces: 1_234, before: { nodes: 0, edges: 0 }, after: { nodes: 0, edges: 0 } };
    },
    async rebuilding() {
      setImmediate(done.resolve);
      return { traces: 600, of: 1_234 };
    },
  });
  const { err, out } = await runCommand(['graph', 'rebuild'], system, { isTty: true });
  expect(err).toContain('600 of 1,234 traces');
  expect(err.endsWith('\r\u001b[K')).toBe(true);
  expect(out).toMatch(/^Rebuilt from/);
  const failing = shelved({ rebuild: () => Promise.reject(new PmlError('store_unavailable', 'gone')) });
  expect(await runCommand(['graph', 'rebuild'], failing, { isTty: true })).toMatchObject({
    code: 1,
    err: expect.stringContaining('pml: gone'),
  });
});
