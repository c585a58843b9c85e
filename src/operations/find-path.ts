import { z } from 'zod';
import { operation } from './operation.ts';
import { graphEdge } from './shapes/graph.ts';

export const findPath = operation({
  name: 'find_path',
  right: 'read',
  summary: 'The shortest path between two nodes of the graph, explained',
  input: z.strictObject({
    from: z.string({ error: 'Where the path begins is missing' }).min(1),
    to: z.string({ error: 'Where the path ends is missing' }).min(1),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    /** Null when no path leads there. */
    cost: z.number().nullable(),
    nodes: z.array(z.string()),
    steps: z.array(graphEdge.extend({ cost: z.number(), explanation: z.string() })),
    explanation: z.string(),
  }),
  http: { method: 'GET', path: '/path' },
  run: ({ gateway }, { from, to }) => gateway.graph.path(from, to),
});
