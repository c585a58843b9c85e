import { z } from 'zod';
import { graphEdge, nodeKind } from './get-graph.ts';
import { operation } from './operation.ts';
import { relation } from './search-tools.ts';

export const getNode = operation({
  name: 'get_node',
  right: 'read',
  scoped: true,
  summary: 'One node of the graph with its edges and statistics',
  input: z.strictObject({
    /** An id, a slug, or any spelling of a tool. */
    id: z.string({ error: 'The id is missing; for example ?id=files:read' }).min(1),
  }),
  output: z.object({
    id: z.string(),
    kind: nodeKind,
    label: z.string(),
    server: z.string().nullable(),
    description: z.string().nullable(),
    /** JSON Schemas; null if unknown. */
    input_schema: z.unknown(),
    output_schema: z.unknown(),
    statistics: z.object({
      runs: z.number(),
      calls: z.number(),
      failures: z.number(),
      repeats: z.number(),
      last_seen_at: z.string().nullable(),
    }),
    /** By name, each in [0, 1]; null until enough runs have used it. */
    trace_statistics: z.record(z.string(), z.number()).nullable(),
    /** Null if no capability uses it. */
    capability_rank: z.number().nullable(),
    edges: z.array(graphEdge),
    related: z.array(z.object({ id: z.string(), relation, score: z.number() })),
  }),
  http: { method: 'GET', path: '/node' },
  run: ({ gateway }, { id }, caller) => gateway.graph.node(id, caller),
});
