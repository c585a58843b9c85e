import { z } from 'zod';
import { operation } from './operation.ts';
import { capabilityHit, capabilityHitToWire } from './shapes/search-hit.ts';

const DEFAULTS = { limit: 5, maxLimit: 50 };

export const searchCapabilities = operation({
  name: 'search_capabilities',
  right: 'read',
  summary: 'Capabilities for a job, best first',
  input: z.strictObject({
    query: z.string().min(1).describe('What is to be done'),
    limit: z.int().min(1).max(DEFAULTS.maxLimit).default(DEFAULTS.limit),
  }),
  output: z.object({ capabilities: z.array(capabilityHit) }),
  mcp: {
    tool: 'pml_search_capabilities',
    title: 'Search capabilities',
    description:
      'Find proven routines: code that was learned from earlier runs and worked, with parameters and success rate.',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  async run({ gateway }, { query, limit }, caller) {
    const hits = await gateway.searchCapabilities(query, limit, caller);
    return { capabilities: hits.map(capabilityHitToWire) };
  },
});
