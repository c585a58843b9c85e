import { z } from 'zod';
import { EDGE_SOURCES, EDGE_TYPES } from '../core/vocabulary/edge.ts';
import { operation } from './operation.ts';

export const getGraphReport = operation({
  name: 'get_graph_report',
  right: 'read',
  summary: 'Number of nodes and edges in the graph, by kind, type and source',
  input: z.strictObject({}),
  output: z.object({
    nodes: z.object({ tool: z.number(), capability: z.number(), operation: z.number() }),
    edges: z.record(z.enum(EDGE_TYPES), z.record(z.enum(EDGE_SOURCES), z.number())),
    density: z.number(),
    communities: z.number(),
    traces: z.number(),
    capabilities: z.object({
      total: z.number(),
      /** Capabilities whose program passes a value from one step to another. */
      with_provides: z.number(),
      share_with_provides: z.number().nullable(),
    }),
  }),
  http: { method: 'GET', path: '/graph/report' },
  run: ({ gateway }) => gateway.graph.stats(),
});
