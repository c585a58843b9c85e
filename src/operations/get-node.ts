import { z } from 'zod';
import { operation } from './operation.ts';
import { graphEdge, nodeKind } from './shapes/graph.ts';
import { relation } from './shapes/search-hit.ts';

export const getNode = operation({
  name: 'get_node',
  right: 'read',
  summary: 'One node of the graph with its edges and statistics',
  input: z.strictObject({
    /** By id, by slug, or by any spelling of a tool. */
    id: z.string({ error: 'Which node is missing; write it as ?id=files:read' }).min(1),
  }),
  output: z.object({
    id: z.string(),
    kind: nodeKind,
    label: z.string(),
    server: z.string().nullable(),
    description: z.string().nullable(),
    /** JSON Schemas; null where nothing is known. */
    input_schema: z.unknown(),
    output_schema: z.unknown(),
    statistics: z.object({
      runs: z.number(),
      calls: z.number(),
      failures: z.number(),
      repeats: z.number(),
      last_seen_at: z.string().nullable(),
    }),
    /** By name, each in [0, 1]; null while too few runs have used it. */
    trace_statistics: z.record(z.string(), z.number()).nullable(),
    /** Null where no capability uses it. */
    capability_rank: z.number().nullable(),
    edges: z.array(graphEdge),
    related: z.array(z.object({ id: z.string(), relation, score: z.number() })),
  }),
  http: { method: 'GET', path: '/node' },
  run: ({ gateway }, { id }) => gateway.graph.node(id),
});
