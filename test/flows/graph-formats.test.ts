import { Graphviz } from '@hpcc-js/wasm-graphviz';
import fc from 'fast-check';
import { MultiDirectedGraph } from 'graphology';
import { parse as parseGraphml } from 'graphology-graphml';
import { expect, test } from 'vitest';
import type { NodeId } from '../../src/core/vocabulary/ids.ts';
import { GRAPH_FORMATS } from '../../src/engine/graph/graph-formats.ts';
import type { EdgeView, GraphView, NodeView } from '../../src/engine/graph/graph-view.ts';
import { proofSeed } from '../proof-count.ts';

const CAPABILITY = 'capability:0190b5a2-6c3e-7c1a-9d2b-1f0c3b5a7e11' as NodeId;

function node(id: string, over: Partial<NodeView> = {}): NodeView {
  return {
    id: id as NodeId,
    kind: 'tool',
    label: id,
    server: 'a',
    community: 3,
    cluster: null,
    pagerank: 0.25,
    ...over,
  };
}

function edge(source: string, target: string, over: Partial<EdgeView> = {}): EdgeView {
  return {
    source: source as NodeId,
    target: target as NodeId,
    edge_type: 'sequence',
    edge_source: 'inferred',
    weight: 0.35,
    observed_count: 2,
    invocation_count: 7,
    ...over,
  };
}

const VIEW: GraphView = {
  nodes: [
    node('a:one', { label: 'one' }),
    node('a:two', { label: 'two', cluster: 1 }),
    node(CAPABILITY, {
      kind: 'capability',
      label: 'copy',
      server: null,
      tools_used: ['a:one' as NodeId],
      tools_sequence: ['a:one', 'a:one'],
    }),
  ],
  edges: [
    edge('a:one', 'a:two'),
    edge('a:one', 'a:two', {
      edge_type: 'dependency',
      edge_source: 'template',
      weight: 0.5,
      observed_count: 0,
    }),
    edge(CAPABILITY, 'a:one', { edge_type: 'contains', edge_source: 'observed', weight: 0.8 }),
  ],
};

/** Names that mean something to XML, to DOT or to a terminal. */
const AWKWARD = [
  'a:<b> & "c" \'d\' ]]> <!-- --',
  'a:ends with \\',
  'a:\\N \\"; } -> {',
  'a:line\nbreak\ttab\r',
  'a:\u0000\u0007\u001b[2J\u202e\u0085',
  'a:\ud800 alone \ufffe \uffff',
  'a:名前 é 🎉',
];

const awkwardView = (names: readonly string[]): GraphView => ({
  nodes: names.map((name) => node(name, { label: name, server: name })),
  edges: names.flatMap((name, i) => (i === 0 ? [] : [edge(names[0]!, name)])),
});

test('[GRAPHUSE-12] GraphML has every node and edge with its attributes and their types', () => {
  const graph = parseGraphml(MultiDirectedGraph, GRAPH_FORMATS.graphml(VIEW));
  expect(graph.nodes()).toEqual(['a:one', 'a:two', CAPABILITY]);
  expect(graph.getNodeAttributes('a:one')).toEqual({
    label: 'one',
    kind: 'tool',
    server: 'a',
    community: 3,
    pagerank: 0.25,
  });
  expect(graph.getNodeAttribute('a:two', 'cluster')).toBe(1);
  expect(graph.getNodeAttributes(CAPABILITY)).toMatchObject({
    kind: 'capability',
    tools_used: '["a:one"]',
    tools_sequence: '["a:one","a:one"]',
  });
  expect(graph.mapEdges((_, attributes, source, target) => ({ source, target, ...attributes }))).toEqual(
    VIEW.edges,
  );
});

test('[GRAPHUSE-12] Graphviz draws the DOT output', async () => {
  const drawn = JSON.parse(await layout(GRAPH_FORMATS.dot(VIEW), 'dot'));
  expect(drawn.directed).toBe(true);
  expect(drawn.objects).toMatchObject([
    { name: 'a:one', label: 'one', kind: 'tool', shape: 'box', community: '3' },
    { name: 'a:two' },
    { name: CAPABILITY, label: 'copy', shape: 'component' },
  ]);
  expect(drawn.edges).toMatchObject([
    { tail: 0, head: 1, edge_type: 'sequence', style: 'dashed', edge_weight: '0.35', observed_count: '2' },
    { tail: 0, head: 1, edge_type: 'dependency', style: 'dotted' },
    { tail: 2, head: 0, edge_type: 'contains', style: 'solid' },
  ]);
});

test('[GRAPHUSE-12] awkward names break neither format, and do not control the terminal', async () => {
  const view = awkwardView(AWKWARD);
  const graph = parseGraphml(MultiDirectedGraph, GRAPH_FORMATS.graphml(view));
  expect(graph.order).toBe(AWKWARD.length);
  expect(graph.size).toBe(AWKWARD.length - 1);
  expect(graph.hasNode(AWKWARD[0])).toBe(true);
  expect(graph.getNodeAttribute(AWKWARD[2], 'label')).toBe(AWKWARD[2]);
  expect(graph.hasNode('a:line\\u000abreak\ufffdtab\\u000d')).toBe(true);
  const drawn = JSON.parse(await layout(GRAPH_FORMATS.dot(view)));
  expect(drawn.objects).toHaveLength(AWKWARD.length);
  expect(drawn.edges).toHaveLength(AWKWARD.length - 1);
  expect(drawn.objects[0].name).toBe(AWKWARD[0]);
  for (const write of [GRAPH_FORMATS.graphml, GRAPH_FORMATS.dot]) {
    expect(write(view).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  }
});

test('[GRAPHUSE-12] any names give readable files', async () => {
  const names = fc.uniqueArray(
    fc.string({ unit: 'binary', minLength: 1 }).map((name) => `a:${name}`),
    { minLength: 1, maxLength: 6, selector: (name) => GRAPH_FORMATS.dot({ nodes: [node(name)], edges: [] }) },
  );
  await fc.assert(
    fc.asyncProperty(names, async (all) => {
      const view = awkwardView(all);
      expect(parseGraphml(MultiDirectedGraph, GRAPH_FORMATS.graphml(view)).order).toBe(all.length);
      expect(JSON.parse(await layout(GRAPH_FORMATS.dot(view))).objects).toHaveLength(all.length);
    }),
    { numRuns: 50, seed: proofSeed() },
  );
});

test('[GRAPHUSE-14] an empty graph gives a file too', async () => {
  const empty = { nodes: [], edges: [] };
  expect(JSON.parse(GRAPH_FORMATS.json(empty))).toEqual(empty);
  expect(parseGraphml(MultiDirectedGraph, GRAPH_FORMATS.graphml(empty)).order).toBe(0);
  expect(JSON.parse(await layout(GRAPH_FORMATS.dot(empty))).name).toBe('pml');
});

async function layout(dot: string, engine: 'dot' | 'nop' = 'nop'): Promise<string> {
  const graphviz = await Graphviz.load();
  return graphviz.layout(dot, 'json', engine);
}
