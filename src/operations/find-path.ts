import { z } from 'zod';
import { graphEdge } from './get-graph.ts';
import { operation } from './operation.ts';

const DEFAULTS = {
  /** Maximum number of start nodes. */
  from: 64,
};

export const findPath = operation({
  name: 'find_path',
  right: 'read',
  scoped: true,
  summary:
    'The shortest path between nodes of the graph, explained; from several nodes, a capability needs all the tools it uses',
  input: z.strictObject({
    /** One node, or several that have all been executed. */
    from: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(DEFAULTS.from)], {
      error: 'The start of the path is missing',
    }),
    to: z.string({ error: 'The end of the path is missing' }).min(1),
  }),
  output: z.object({
    /** A list if several were given. */
    from: z.union([z.string(), z.array(z.string())]),
    to: z.string(),
    /** Null if none exists. */
    cost: z.number().nullable(),
    /** In the order they are reached. */
    nodes: z.array(z.string()),
    steps: z.array(graphEdge.extend({ cost: z.number(), explanation: z.string() })),
    /** From several nodes: the capabilities on the path, each reached once everything it uses is. */
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
  run: ({ gateway }, { from, to }, caller) =>
    gateway.graph.path(typeof from === 'string' ? [from] : from, to, caller),
});
