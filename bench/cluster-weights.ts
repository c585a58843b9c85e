/**
 * Should a tool that a capability calls ten times count more than one it calls once? On generated capabilities with
 * known groups: how well spectral clusters find the groups (adjusted Rand index, 1 is perfect, 0 is chance), and how
 * well ranks predict which tools other capabilities will use (Spearman).
 */

import { spectralClusters } from '../src/core/graph/clusters.ts';
import {
  type CapabilityUse,
  hypergraphPageRank,
  type UseWeights,
  useWeight,
} from '../src/core/graph/hypergraph.ts';
import { createRandom, type Random } from '../src/core/numeric/random.ts';
import { capabilityNode, type NodeId } from '../src/core/vocabulary/ids.ts';
import { node } from '../test/support/random-graph.ts';
import type { BenchReport, BenchRow } from './run.ts';

const GROUPS = 6;
const TOOLS_PER_GROUP = 12;
const CAPABILITIES_PER_GROUP = 20;
const USES = 5;
/** Share of uses of a tool of another group. */
const FOREIGN = 0.3;
/** Share of uses in a loop of 2 to 100 calls, where loops are uninformative. */
const LOOPS = 0.3;
const SEEDS = 20;

/** Which uses are in loops. */
const WORLDS = {
  'loops anywhere': (_isForeign: boolean, random: Random) => random.next() < LOOPS,
  'loops over what matters': (isForeign: boolean) => !isForeign,
  'loops over side work': (isForeign: boolean) => isForeign,
};
type World = keyof typeof WORLDS;

const WEIGHTS: readonly UseWeights[] = ['uniform', 'log_frequency'];

interface Planted extends CapabilityUse {
  readonly group: number;
}

export async function bench(): Promise<BenchReport> {
  const rows = (Object.keys(WORLDS) as World[]).flatMap((world) => {
    const samples = Array.from({ length: SEEDS }, (_, seed) => generate(world, createRandom(seed + 1)));
    return [...clusterRows(world, samples), ...rankRows(world, samples)];
  });
  return { name: 'cluster-weights', rows };
}

function generate(world: World, random: Random): Planted[] {
  return Array.from({ length: GROUPS * CAPABILITIES_PER_GROUP }, (_, i) => {
    const group = i % GROUPS;
    const calls = new Map<NodeId, number>();
    while (calls.size < USES) {
      const isForeign = random.next() < FOREIGN;
      const from = isForeign ? random.int(GROUPS) : group;
      // Squared: in every group some tools are used more than others.
      const tool = node(from * TOOLS_PER_GROUP + Math.floor(TOOLS_PER_GROUP * random.next() ** 2));
      if (!calls.has(tool)) calls.set(tool, WORLDS[world](isForeign, random) ? 2 + random.int(99) : 1);
    }
    const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
    return { capability: capabilityNode(id), calls, group };
  });
}

function clusterRows(world: World, samples: readonly Planted[][]): BenchRow[] {
  return WEIGHTS.map((weights) => ({
    label: `${world}: clusters, ${weights}`,
    value: mean(
      samples.map((uses) => {
        const { of } = spectralClusters(uses, { weights });
        return adjustedRand(uses.map(({ capability, group }) => [of.get(capability)!, group]));
      }),
    ),
    unit: 'ARI',
  }));
}

/** Compares ranks from one half of the capabilities with the number of users in the other half. */
function rankRows(world: World, samples: readonly Planted[][]): BenchRow[] {
  const rankings: Record<string, (uses: readonly Planted[]) => ReadonlyMap<NodeId, number>> = {
    'hypergraph PageRank, uniform': (uses) => hypergraphPageRank(uses, 'uniform').nodes,
    'hypergraph PageRank, log_frequency': (uses) => hypergraphPageRank(uses, 'log_frequency').nodes,
    'number of capabilities': (uses) => total(uses, (calls) => useWeight(calls, 'uniform')),
    'number of calls': (uses) => total(uses, (calls) => calls),
  };
  return Object.entries(rankings).map(([name, rank]) => ({
    label: `${world}: ranks, ${name}`,
    value: mean(
      samples.map((uses) => {
        const half = uses.length / 2;
        const ranks = rank(uses.slice(0, half));
        const later = total(uses.slice(half), () => 1);
        const tools = Array.from({ length: GROUPS * TOOLS_PER_GROUP }, (_, i) => node(i));
        return spearman(
          tools.map((tool) => ranks.get(tool) ?? 0),
          tools.map((tool) => later.get(tool) ?? 0),
        );
      }),
    ),
    unit: 'rho',
  }));
}

function total(uses: readonly CapabilityUse[], value: (calls: number) => number): Map<NodeId, number> {
  const sums = new Map<NodeId, number>();
  for (const { calls } of uses) {
    for (const [tool, count] of calls) sums.set(tool, (sums.get(tool) ?? 0) + value(count));
  }
  return sums;
}

/** Hubert & Arabie, "Comparing partitions" (1985). */
function adjustedRand(labels: readonly (readonly [number, number])[]): number {
  const pairs = (key: (label: readonly [number, number]) => string | number) =>
    Map.groupBy(labels, key)
      .values()
      .reduce((sum, { length }) => sum + (length * (length - 1)) / 2, 0);
  const both = pairs(([a, b]) => `${a} ${b}`);
  const [first, second] = [pairs(([a]) => a), pairs(([, b]) => b)];
  const expected = (first * second) / ((labels.length * (labels.length - 1)) / 2);
  return (both - expected) / ((first + second) / 2 - expected);
}

/** Pearson's correlation of the ranks; equal values share their mean rank. */
function spearman(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [places(a), places(b)];
  const [meanX, meanY] = [mean(x), mean(y)];
  const product = (p: readonly number[], q: readonly number[], mp: number, mq: number) =>
    p.reduce((sum, value, i) => sum + (value - mp) * (q[i]! - mq), 0);
  return product(x, y, meanX, meanY) / Math.sqrt(product(x, x, meanX, meanX) * product(y, y, meanY, meanY));
}

function places(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  return values.map((value) => (sorted.indexOf(value) + sorted.lastIndexOf(value)) / 2);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
