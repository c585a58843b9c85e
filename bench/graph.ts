/** The graph's algorithms at realistic sizes, and how they scale. */
import { DirectedGraph } from 'graphology';
import pagerankModule from 'graphology-metrics/centrality/pagerank.js';
import dijkstra from 'graphology-shortest-path/dijkstra.js';
import { applyTraces } from '../src/core/graph/apply-trace.ts';
import { spectralClusters } from '../src/core/graph/clusters.ts';
import { type CapabilityUse, countCalls } from '../src/core/graph/hypergraph.ts';
import { shortestPath } from '../src/core/graph/hyperpaths.ts';
import { pageRank } from '../src/core/graph/page-rank.ts';
import { relatednessOf } from '../src/core/graph/relatedness.ts';
import { TypedGraph } from '../src/core/graph/typed-graph.ts';
import { createRandom, type Random } from '../src/core/numeric/random.ts';
import { capabilityNode } from '../src/core/vocabulary/ids.ts';
import { node, randomEvents, randomGraph } from '../test/support/random-graph.ts';
import type { BenchReport, BenchRow } from './run.ts';
import { logLogPlot } from './support/log-log-plot.ts';

const EDGES_PER_NODE = 5;
const GROWTH = [1_000, 3_000, 10_000, 30_000, 100_000];

// Its types declare a default export; under Node's handling of CommonJS, that is the module itself.
const pagerank = pagerankModule as unknown as typeof pagerankModule.default;

export async function bench(): Promise<BenchReport> {
  const random = createRandom(1);
  const fixed = [...ofThousand(random), ...ranks(random), clusters(random), learning(random)];
  const grown = GROWTH.map((size) => atSize(random, size));
  const rows = grown.flatMap(({ size, times }) =>
    Object.entries(times).map(([what, value]): BenchRow => {
      return { label: `${size.toLocaleString('en').padStart(7)} nodes: ${what}`, value, unit: 'ms' };
    }),
  );
  const series = (Object.keys(grown[0]!.times) as (keyof Times)[]).map((name) => ({
    name,
    points: grown.map(({ size, times }) => [size, times[name]] as const),
  }));
  return { name: 'graph', rows: [...fixed, ...rows], below: `By nodes:\n\n${logLogPlot(series, 'ms')}` };
}

function ofThousand(random: Random): BenchRow[] {
  const size = 1_000;
  const graph = randomGraph(random, size, EDGES_PER_NODE * size);
  const snapshot = graph.snapshot();
  const related = relatednessOf(snapshot);
  const what = '1,000 nodes, 5,000 edges';
  const anyNode = () => node(random.int(size));
  const other = inGraphology(graph);
  const path = medianMs(300, () => shortestPath(snapshot, anyNode(), anyNode()));
  const otherPath = medianMs(100, () => dijkstra.bidirectional(other, anyNode(), anyNode(), 'cost'));
  return [
    {
      label: `Adamic-Adar top 10, ${what}`,
      value: medianMs(2_000, () => related.top(anyNode(), { limit: 10 })),
      unit: 'ms',
      goal: '<= 0.03 ms',
    },
    { label: `Dijkstra, ${what}`, value: path, unit: 'ms', ratio: otherPath / path, goal: '<= 0.25 ms' },
    { label: `Dijkstra of graphology, ${what}`, value: otherPath, unit: 'ms' },
  ];
}

function ranks(random: Random): BenchRow[] {
  const size = 10_000;
  const graph = randomGraph(random, size, EDGES_PER_NODE * size);
  const snapshot = graph.snapshot();
  snapshot.directed();
  const other = inGraphology(graph);
  const ours = medianMs(30, () => pageRank(snapshot));
  // Its tolerance is multiplied by the number of nodes.
  const options = { getEdgeWeight: 'weight', tolerance: 1e-6 / size } as const;
  const theirs = medianMs(3, () => pagerank(other, options));
  const what = '10,000 nodes, 50,000 edges';
  return [
    { label: `PageRank, ${what}`, value: ours, unit: 'ms', ratio: theirs / ours, goal: '<= 5 ms' },
    { label: `PageRank of graphology, ${what}`, value: theirs, unit: 'ms' },
  ];
}

function clusters(random: Random): BenchRow {
  const uses = Array.from({ length: 200 }, (_, i): CapabilityUse => {
    const group = i % 8;
    const used = Array.from({ length: 6 }, () => {
      const from = random.next() < 0.15 ? random.int(8) : group;
      return node(from * 38 + random.int(38));
    });
    return {
      capability: capabilityNode(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`),
      calls: countCalls(used),
    };
  });
  return {
    label: 'spectral clusters, 300 tools x 200 capabilities',
    value: medianMs(15, () => spectralClusters(uses)),
    unit: 'ms',
    goal: '<= 80 ms',
  };
}

function learning(random: Random): BenchRow {
  const runs = Array.from({ length: 300 }, () => randomEvents(random, 60, 200));
  const events = runs.reduce((sum, run) => sum + run.length, 0);
  const ms = medianMs(7, () => {
    const graph = new TypedGraph();
    for (const [at, run] of runs.entries()) applyTraces(graph, [{ at, events: run }]);
  });
  return {
    label: 'apply-trace, runs of 60 calls',
    value: (events / ms) * 1_000,
    unit: 'events/s',
    goal: '>= 20000 events/s',
  };
}

type Times = ReturnType<typeof atSize>['times'];

/** Milliseconds of every algorithm in a graph of this many nodes. */
function atSize(random: Random, size: number) {
  const graph = randomGraph(random, size, EDGES_PER_NODE * size);
  const rounds = size > 20_000 ? 3 : 9;
  const build = medianMs(rounds, () => {
    // Any run invalidates the graph's snapshot.
    graph.count({ node: node(0), calls: 1, failures: 0, repeats: 0 }, 0);
    graph.snapshot().undirected();
  });
  const snapshot = graph.snapshot();
  const related = relatednessOf(snapshot);
  const anyNode = () => node(random.int(size));
  const run = randomEvents(random, 60, size);
  const times = {
    snapshot: build,
    'Adamic-Adar top 10': medianMs(500, () => related.top(anyNode())),
    Dijkstra: medianMs(50, () => shortestPath(snapshot, anyNode(), anyNode())),
    PageRank: medianMs(rounds, () => pageRank(snapshot)),
    'run of 60 calls applied': medianMs(50, () => applyTraces(graph, [{ at: 0, events: run }])),
  };
  return { size, times };
}

function inGraphology(graph: TypedGraph): DirectedGraph {
  const other = new DirectedGraph();
  for (const each of graph.nodes()) other.addNode(each);
  for (const edge of graph.edges()) {
    const weight = graph.weightOf(edge);
    other.mergeDirectedEdge(edge.from, edge.to, { weight, cost: 1 / weight });
  }
  return other;
}

function medianMs(rounds: number, measured: () => void): number {
  for (let warmUp = 0; warmUp < Math.ceil(rounds / 4); warmUp++) measured();
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now();
    measured();
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)]!;
}
