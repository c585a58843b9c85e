import { z } from 'zod';
import { slug } from './input-fields.ts';
import { operation } from './operation.ts';
import { capability, capabilityToWire } from './shapes/capability.ts';

export const renameCapability = operation({
  name: 'rename_capability',
  right: 'manage',
  summary: 'Renames a capability; the old name keeps working',
  input: z.strictObject({ slug, to: z.string().min(1) }),
  output: capability,
  http: { method: 'POST', path: '/capabilities/:slug/rename' },
  async run({ gateway }, input) {
    return capabilityToWire(await gateway.capabilities.rename(input.slug, input.to));
  },
});
