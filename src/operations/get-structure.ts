import { z } from 'zod';
import { structureOf } from '../engine/code/structure-of.ts';
import { operation } from './operation.ts';

const position = z.object({ line: z.number(), column: z.number() });

export const getStructure = operation({
  name: 'get_structure',
  right: 'read',
  scoped: true,
  summary:
    'What a program can do, from static analysis: its steps, the edges between them, and calls known only at run time',
  input: z.strictObject({ code: z.string().min(1) }),
  output: z.object({
    /** In program order. */
    nodes: z.array(
      z.object({
        id: z.string(),
        type: z.enum(['task', 'capability', 'operation', 'decision', 'loop', 'fork', 'join']),
        /** A tool, capability or operation; for other types, what is decided, repeated or awaited. */
        name: z.string(),
        at: position,
        /** For a step in a helper function: the position of the call. */
        called_at: position.nullable(),
        /** Nesting depth in decisions, loops and forks. */
        depth: z.number(),
        /** The branch of its decision. */
        branch: z.string().nullable(),
        /** By name, as far as known statically; only for tasks and capabilities. */
        arguments: z.record(z.string(), z.string()),
      }),
    ),
    edges: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        type: z.enum(['sequence', 'provides', 'conditional', 'contains', 'loop_body']),
        branch: z.string().nullable(),
        argument: z.string().nullable(),
      }),
    ),
    unresolved: z.array(z.object({ text: z.string(), at: position, reason: z.string() })),
  }),
  http: { method: 'POST', path: '/structure' },
  run: async (_, { code }) => structureOf(code),
});
