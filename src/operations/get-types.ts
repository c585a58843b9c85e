import { z } from 'zod';
import { guestTypes } from '../core/capabilities/guest-types.ts';
import { operation } from './operation.ts';

export const getTypes = operation({
  name: 'get_types',
  right: 'read',
  summary: 'TypeScript declarations of what programs can call: tools and capabilities',
  input: z.strictObject({}),
  output: z.object({
    /** A declaration file. */
    types: z.string(),
    /** How many there are. */
    tools: z.number(),
    capabilities: z.number(),
  }),
  http: { method: 'GET', path: '/types' },
  async run({ gateway }, _, caller) {
    const known = await gateway.callableNames(caller);
    const { tools, capabilities } = known;
    return { types: guestTypes(known), tools: tools.length, capabilities: capabilities.length };
  },
});
