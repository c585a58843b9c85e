import { z } from 'zod';
import { slug } from './input-fields.ts';
import { operation } from './operation.ts';
import { capability, capabilityToWire } from './shapes/capability.ts';

export const shareCapability = operation({
  name: 'share_capability',
  // The engine refuses capabilities of other users.
  right: 'run',
  summary: 'Makes a private capability visible to everybody',
  input: z.strictObject({ slug }),
  output: capability,
  http: { method: 'POST', path: '/capabilities/:slug/share' },
  async run({ gateway }, input, caller) {
    return capabilityToWire(await gateway.capabilities.share(input.slug, caller));
  },
});
