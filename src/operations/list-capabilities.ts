import { z } from 'zod';
import { operation } from './operation.ts';
import { capabilitySummary, capabilitySummaryToWire } from './shapes/capability.ts';

export const listCapabilities = operation({
  name: 'list_capabilities',
  right: 'read',
  scoped: true,
  summary: 'Capabilities ordered by slug, with state, success rate and reliability',
  input: z.strictObject({}),
  output: z.object({ capabilities: z.array(capabilitySummary) }),
  http: { method: 'GET', path: '/capabilities' },
  async run({ gateway }, _, caller) {
    return { capabilities: (await gateway.capabilities.list(caller)).map(capabilitySummaryToWire) };
  },
});
