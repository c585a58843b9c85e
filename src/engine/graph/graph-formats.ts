import type { EdgeSource } from '../../core/vocabulary/edge.ts';
import type { NodeKind } from '../../core/vocabulary/ids.ts';
import { printable } from '../../core/vocabulary/text.ts';
import type { EdgeView, GraphView, NodeView } from './graph-view.ts';

type Attribute = readonly [name: string, value: string | number];

/** The graph in the file formats of other programs; JSON is what the API returns. */
export const GRAPH_FORMATS = {
  json: (view: GraphView) => `${JSON.stringify(view)}\n`,
  graphml: toGraphml,
  dot: toDot,
} as const satisfies Record<string, (view: GraphView) => string>;

export type GraphFormat = keyof typeof GRAPH_FORMATS;

const NODE_ATTRIBUTES = {
  label: 'string',
  kind: 'string',
  server: 'string',
  community: 'int',
  cluster: 'int',
  pagerank: 'double',
  tools_used: 'string',
  capabilities_used: 'string',
  tools_sequence: 'string',
} as const;

const EDGE_ATTRIBUTES = {
  edge_type: 'string',
  edge_source: 'string',
  weight: 'double',
  observed_count: 'int',
  invocation_count: 'int',
} as const;

/** What there is to say of a node besides its id; lists are told as JSON, since names may hold any character. */
function nodeAttributes(node: NodeView): Attribute[] {
  const { label, kind, server, community, cluster, pagerank, tools_used, capabilities_used, tools_sequence } =
    node;
  return [
    ['label', label],
    ['kind', kind],
    ...(server === null ? [] : [['server', server] as const]),
    ['community', community],
    ...(cluster === null ? [] : [['cluster', cluster] as const]),
    ['pagerank', pagerank],
    ...(tools_used ? [['tools_used', JSON.stringify(tools_used)] as const] : []),
    ...(capabilities_used ? [['capabilities_used', JSON.stringify(capabilities_used)] as const] : []),
    ...(tools_sequence ? [['tools_sequence', JSON.stringify(tools_sequence)] as const] : []),
  ];
}

function edgeAttributes(edge: EdgeView): Attribute[] {
  const { edge_type, edge_source, weight, observed_count, invocation_count } = edge;
  return Object.entries({ edge_type, edge_source, weight, observed_count, invocation_count });
}

/** GraphML 1.0, as Gephi and yEd read it: http://graphml.graphdrawing.org/primer/graphml-primer.html */
function toGraphml({ nodes, edges }: GraphView): string {
  const xmlns = 'http://graphml.graphdrawing.org/xmlns';
  const keys = (end: 'node' | 'edge', types: Readonly<Record<string, string>>) =>
    Object.entries(types).map(
      ([name, type]) => `  <key id="${end}.${name}" for="${end}" attr.name="${name}" attr.type="${type}"/>`,
    );
  const data = (end: 'node' | 'edge', attributes: readonly Attribute[]) =>
    attributes.map(([name, value]) => `<data key="${end}.${name}">${xml(value)}</data>`).join('');
  return lines([
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<graphml xmlns="${xmlns}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${xmlns} ${xmlns}/1.0/graphml.xsd">`,
    ...keys('node', NODE_ATTRIBUTES),
    ...keys('edge', EDGE_ATTRIBUTES),
    '  <graph id="pml" edgedefault="directed">',
    ...nodes.map((node) => `    <node id="${xml(node.id)}">${data('node', nodeAttributes(node))}</node>`),
    ...edges.map(
      (edge, i) =>
        `    <edge id="e${i}" source="${xml(edge.source)}" target="${xml(edge.target)}">${data('edge', edgeAttributes(edge))}</edge>`,
    ),
    '  </graph>',
    '</graphml>',
  ]);
}

const SHAPES: Readonly<Record<NodeKind, string>> = {
  tool: 'box',
  capability: 'component',
  operation: 'ellipse',
};
const STYLES: Readonly<Record<EdgeSource, string>> = {
  observed: 'solid',
  inferred: 'dashed',
  template: 'dotted',
};

/** https://graphviz.org/doc/info/lang.html; `weight` is taken by the layout there, so widths show it. */
function toDot({ nodes, edges }: GraphView): string {
  const list = (attributes: readonly Attribute[]) =>
    `[${attributes.map(([name, value]) => `${name}=${quoted(value)}`).join(', ')}]`;
  return lines([
    'digraph pml {',
    ...nodes.map((node) => {
      const attributes: Attribute[] = [...nodeAttributes(node), ['shape', SHAPES[node.kind]]];
      return `  ${quoted(node.id)} ${list(attributes)};`;
    }),
    ...edges.map((edge) => {
      const attributes: Attribute[] = [
        ...edgeAttributes(edge).filter(([name]) => name !== 'weight'),
        ['edge_weight', edge.weight],
        ['label', edge.edge_type],
        ['style', STYLES[edge.edge_source]],
        ['penwidth', 3 * edge.weight],
      ];
      return `  ${quoted(edge.source)} -> ${quoted(edge.target)} ${list(attributes)};`;
    }),
    '}',
  ]);
}

const XML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function xml(value: string | number): string {
  return plain(value).replace(/[&<>"]/g, (character) => XML_ENTITIES[character]!);
}

/** The backslash too: at the end it would escape the quote, and labels interpret `\n` and `\N`. */
function quoted(value: string | number): string {
  return `"${plain(value).replace(/["\\]/g, '\\$&')}"`;
}

/** Servers choose the names of their tools freely; XML cannot represent some characters. */
function plain(value: string | number): string {
  return printable(String(value).toWellFormed()).replace(/[\t\ufffe\uffff]/g, '\ufffd');
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
