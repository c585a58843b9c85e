import { z } from 'zod';
import { slug } from './input-fields.ts';
import { operation } from './operation.ts';
import { capability, capabilityToWire } from './shapes/capability.ts';

export const getCapability = operation({
  name: 'get_capability',
  right: 'read',
  scoped: true,
  summary: 'One capability with its code and evidence',
  input: z.strictObject({ slug }),
  output: capability,
  http: { method: 'GET', path: '/capabilities/:slug' },
  async run({ gateway }, input, caller) {
    return capabilityToWire(await gateway.capabilities.show(input.slug, caller));
  },
});
