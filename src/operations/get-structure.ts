import { z } from 'zod';
import { structureOf } from '../engine/code/structure-of.ts';
import { operation } from './operation.ts';

const position = z.object({ line: z.number(), column: z.number() });

export const getStructure = operation({
  name: 'get_structure',
  right: 'read',
  summary:
    'What a program can do, read from its text: its steps, the edges between them, calls known only in a run',
  input: z.strictObject({ code: z.string().min(1) }),
  output: z.object({
    /** In the order in which the program reaches them. */
    nodes: z.array(
      z.object({
        id: z.string(),
        type: z.enum(['task', 'capability', 'operation', 'decision', 'loop', 'fork', 'join']),
        /** A tool, a capability, an operation; of the others what is decided, repeated or waited for. */
        name: z.string(),
        at: position,
        /** In a helper function: where the program called it. */
        called_at: position.nullable(),
        /** How many decisions, loops and forks it is in. */
        depth: z.number(),
        /** Of the decision it is in. */
        branch: z.string().nullable(),
        /** By name, as far as the text tells; only of tasks and capabilities. */
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
