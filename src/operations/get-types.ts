import { z } from 'zod';
import { guestTypes } from '../core/capabilities/guest-types.ts';
import { operation } from './operation.ts';

export const getTypes = operation({
  name: 'get_types',
  right: 'read',
  scoped: true,
  summary: 'TypeScript declarations of the tools and capabilities that programs can call',
  input: z.strictObject({}),
  output: z.object({
    /** A declaration file. */
    types: z.string(),
    /** Number of declarations. */
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
