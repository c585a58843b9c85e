import { z } from 'zod';
import { slug } from './input-fields.ts';
import { operation } from './operation.ts';
import { capability, capabilityToWire } from './shapes/capability.ts';

export const quarantineCapability = operation({
  name: 'quarantine_capability',
  right: 'manage',
  summary: 'Blocks calls of a capability, or allows them again',
  input: z.strictObject({
    slug,
    reason: z.string().min(1).default('by a person'),
    /** Allows calls again. */
    lift: z.boolean().default(false),
  }),
  output: capability,
  http: { method: 'POST', path: '/capabilities/:slug/quarantine' },
  async run({ gateway }, input) {
    const reason = input.lift ? null : input.reason;
    return capabilityToWire(await gateway.capabilities.quarantine(input.slug, reason));
  },
});
