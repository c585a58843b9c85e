import { z } from 'zod';
import { slug } from './fields.ts';
import { operation } from './operation.ts';
import { capability, capabilityToWire } from './shapes/capability.ts';

export const shareCapability = operation({
  name: 'share_capability',
  // The flow refuses what is not the caller's own.
  right: 'run',
  summary: 'Lets everybody use a capability that was private',
  input: z.strictObject({ slug }),
  output: capability,
  http: { method: 'POST', path: '/capabilities/:slug/share' },
  async run({ gateway }, input, caller) {
    return capabilityToWire(await gateway.capabilities.share(input.slug, caller));
  },
});
