import { z } from 'zod';
import { operation } from './operation.ts';
import { graphEdge } from './shapes/graph.ts';

const DEFAULTS = {
  /** Nodes a path may begin with. */
  from: 64,
};

export const findPath = operation({
  name: 'find_path',
  right: 'read',
  summary:
    'The shortest path between nodes of the graph, explained; from several it waits for whole capabilities',
  input: z.strictObject({
    /** One node, or several that are all done. */
    from: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(DEFAULTS.from)], {
      error: 'Where the path begins is missing',
    }),
    to: z.string({ error: 'Where the path ends is missing' }).min(1),
  }),
  output: z.object({
    /** A list where several were given. */
    from: z.union([z.string(), z.array(z.string())]),
    to: z.string(),
    /** Null when no path leads there. */
    cost: z.number().nullable(),
    /** In the order in which they are reached. */
    nodes: z.array(z.string()),
    steps: z.array(graphEdge.extend({ cost: z.number(), explanation: z.string() })),
    /** From several: the capabilities on the way, each reached once all that it uses is. */
    joins: z.array(
      z.object({
        all_of: z.array(z.string()),
        target: z.string(),
        cost: z.number(),
        explanation: z.string(),
      }),
    ),
    explanation: z.string(),
  }),
  http: { method: 'GET', path: '/path' },
  run: ({ gateway }, { from, to }) => gateway.graph.path(typeof from === 'string' ? [from] : from, to),
});
