import { expect, test } from 'vitest';
import type { Drawing, DrawnEdge, DrawnNode } from './drawing.ts';
import { byImportance, crowdOf, litEdges } from './paint-crowd.ts';

function node(nth: number, over: Partial<DrawnNode> = {}): DrawnNode {
  return {
    id: `n${nth}`,
    kind: 'tool',
    label: `tool ${nth}`,
    server: 's',
    community: nth % 3,
    cluster: null,
    size: 20,
    isLone: false,
    ...over,
  };
}

function edge(from: number, to: number, over: Partial<DrawnEdge> = {}): DrawnEdge {
  const ends = { source: `n${from}`, target: `n${to}` };
  const base = { type: 'sequence', origin: 'observed', weight: 0.5, runs: 1, calls: 1 } as const;
  return { id: `${from}-${to}`, ...ends, ...base, ...over };
}

const drawing = (nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): Drawing => ({
  nodes,
  edges,
  members: new Map(),
});

test('[DASH-95] few edges are separate elements; of many, equal ones share one stroke, and none is lost', () => {
  const nodes = Array.from({ length: 60 }, (_, i) => node(i));
  const pairs = nodes.flatMap((_, i) => nodes.flatMap((__, j) => (i === j ? [] : [edge(i, j)])));
  expect(crowdOf(drawing(nodes, pairs.slice(0, 1_200)))).toBeNull();
  const looks = pairs.map((each, i) => ({
    ...each,
    type: i % 2 === 0 ? ('sequence' as const) : ('provides' as const),
    origin: i % 5 === 0 ? ('inferred' as const) : ('observed' as const),
    weight: (i % 10) / 9,
  }));
  const crowd = crowdOf(drawing(nodes, looks))!;
  // Two types, two sources, three widths, within a group and across.
  expect(crowd.batches.length).toBeLessThanOrEqual(24);
  const painted = crowd.batches.flatMap(({ ends, type, line, isAcross }) =>
    Array.from({ length: ends.length / 2 }, (_, e) => {
      const [from, to] = [ends[2 * e]!, ends[2 * e + 1]!];
      expect(isAcross).toBe(from % 3 !== to % 3);
      return `${crowd.nodes[from]} ${type} ${line} ${crowd.nodes[to]}`;
    }),
  );
  const wanted = looks.map(
    ({ source, type, origin, target }) =>
      `${source} ${type} ${origin === 'inferred' ? 'dashed' : 'solid'} ${target}`,
  );
  expect(painted.sort()).toEqual(wanted.sort());
  const widths = new Set(crowd.batches.map(({ width }) => width));
  expect(widths.size).toBe(3);
});

test('[DASH-95] the edges of the selected node, or those of the path, are in front', () => {
  const all = drawing([node(0), node(1), node(2)], [edge(0, 1), edge(1, 2), edge(2, 0)]);
  const ids = (edges: readonly DrawnEdge[]) => edges.map(({ id }) => id);
  expect(ids(litEdges(all, null, null))).toEqual([]);
  expect(ids(litEdges(all, 'n1', null))).toEqual(['0-1', '1-2']);
  expect(ids(litEdges(all, 'n1', { edges: ['2-0'] }))).toEqual(['2-0']);
});

test('[DASH-95] the largest node of each group is named first', () => {
  const nodes = [
    node(0, { community: 0, size: 30 }),
    node(1, { community: 0, size: 29 }),
    node(2, { community: 1, size: 18 }),
    node(3, { community: 1, size: 19 }),
  ];
  expect(byImportance(nodes).map(({ id }) => id)).toEqual(['n0', 'n3', 'n1', 'n2']);
});
