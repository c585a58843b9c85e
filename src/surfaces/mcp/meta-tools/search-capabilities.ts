import { z } from 'zod';
import { capabilityHitToWire } from '../../../operations/shapes/search-hit.ts';
import { answer } from './answer.ts';
import { metaTool } from './meta-tool.ts';

const DEFAULTS = { limit: 5, maxLimit: 50 };

export const searchCapabilities = metaTool(
  {
    name: 'pml_search_capabilities',
    title: 'Search capabilities',
    description:
      'Find proven routines: code that was learned from earlier runs and worked, with parameters and success rate.',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  z.object({
    query: z.string().min(1).describe('What is to be done'),
    limit: z.int().min(1).max(DEFAULTS.maxLimit).default(DEFAULTS.limit),
  }),
  async ({ query, limit }, { gateway }, { caller }) => {
    const hits = await gateway.searchCapabilities(query, limit, caller);
    return answer({ capabilities: hits.map(capabilityHitToWire) });
  },
);
