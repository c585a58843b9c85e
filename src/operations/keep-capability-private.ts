import { z } from 'zod';
import { slug } from './input-fields.ts';
import { operation } from './operation.ts';
import { capability, capabilityToWire } from './shapes/capability.ts';

export const keepCapabilityPrivate = operation({
  name: 'keep_capability_private',
  right: 'manage',
  summary: 'Makes a shared capability private to one user',
  input: z.strictObject({
    slug,
    /** By default the user whose run it was first learned from. */
    user: z.string().min(1).optional(),
  }),
  output: capability,
  http: { method: 'POST', path: '/capabilities/:slug/keep-private' },
  async run({ gateway }, input, caller) {
    return capabilityToWire(await gateway.capabilities.keepPrivate(input.slug, input.user, caller));
  },
});
