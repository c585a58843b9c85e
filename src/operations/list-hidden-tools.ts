import { z } from 'zod';
import { operation } from './operation.ts';

export const listHiddenTools = operation({
  name: 'list_hidden_tools',
  right: 'read',
  summary: 'Tools that a search for their own description does not find first, with the tool found instead',
  input: z.strictObject({}),
  output: z.object({
    /** Number of all tools. */
    tools: z.number(),
    hidden: z.array(
      z.object({
        tool: z.string(),
        /** Null for a tool without a description. */
        winner: z.string().nullable(),
      }),
    ),
  }),
  http: { method: 'GET', path: '/hidden-tools' },
  async run({ gateway }) {
    const { tools, hidden } = await gateway.hiddenTools();
    return { tools, hidden: [...hidden] };
  },
});
