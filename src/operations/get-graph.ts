import { z } from 'zod';
import { EDGE_SOURCES, EDGE_TYPES } from '../core/vocabulary/edge.ts';
import { GRAPH_FORMATS } from '../engine/graph/graph-formats.ts';
import type { GraphView } from '../engine/graph/graph-view.ts';
import { operation } from './operation.ts';

export const nodeKind = z.enum(['tool', 'capability', 'operation']);

export const graphEdge = z
  .object({
    source: z.string(),
    target: z.string(),
    edge_type: z.enum(EDGE_TYPES),
    edge_source: z.enum(EDGE_SOURCES),
    weight: z.number(),
    observed_count: z.number(),
    invocation_count: z.number(),
  })
  .meta({ id: 'GraphEdge' });

const file = (format: keyof typeof GRAPH_FORMATS, mediaType: string) => ({
  mediaType,
  write: (graph: unknown) => GRAPH_FORMATS[format](graph as GraphView),
});

export const getGraph = operation({
  name: 'get_graph',
  right: 'read',
  scoped: true,
  summary: 'The whole graph of tools and capabilities',
  input: z.strictObject({}),
  output: z.object({
    nodes: z.array(
      z.object({
        id: z.string(),
        kind: nodeKind,
        label: z.string(),
        server: z.string().nullable(),
        /** From the Louvain method. */
        community: z.number(),
        /** From spectral co-clustering; null for tools that no capability uses. */
        cluster: z.number().nullable(),
        pagerank: z.number(),
        tools_used: z.array(z.string()).optional(),
        capabilities_used: z.array(z.string()).optional(),
        tools_sequence: z.array(z.string()).optional(),
      }),
    ),
    edges: z.array(graphEdge),
  }),
  http: {
    method: 'GET',
    path: '/graph',
    files: {
      json: file('json', 'application/json'),
      graphml: file('graphml', 'application/graphml+xml; charset=utf-8'),
      dot: file('dot', 'text/vnd.graphviz; charset=utf-8'),
    },
  },
  run: ({ gateway }, _, caller) => gateway.graph.view(caller),
});
