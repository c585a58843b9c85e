import { z } from 'zod';
import { briefSignature } from '../core/capabilities/tool-signature.ts';
import type { CapabilityHit } from '../engine/capabilities/search-capabilities.ts';
import { operation } from './operation.ts';

const DEFAULTS = { limit: 5, maxLimit: 50 };

export const capabilityHit = z
  .object({
    slug: z.string(),
    description: z.string(),
    /** JSON Schema. */
    parameters: z.unknown(),
    /** Semantic similarity times reliability. */
    score: z.number(),
    success_rate: z.number(),
    uses: z.number(),
    tools_used: z.array(z.string()),
    tools_sequence: z.array(z.string()),
  })
  .meta({ id: 'CapabilityHit' });

export const searchCapabilities = operation({
  name: 'search_capabilities',
  right: 'read',
  scoped: true,
  summary: 'Capabilities for a job, best first',
  input: z.strictObject({
    query: z.string().min(1).describe('What you want to do'),
    limit: z.int().min(1).max(DEFAULTS.maxLimit).default(DEFAULTS.limit),
  }),
  output: z.object({ capabilities: z.array(capabilityHit) }),
  mcp: {
    tool: 'pml_search_capabilities',
    place: 2,
    title: 'Search capabilities',
    description: 'Find proven routines: code learned from runs, with parameters and success rate.',
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  async run({ gateway }, { query, limit }, caller) {
    const hits = await gateway.searchCapabilities(query, limit, caller);
    return { capabilities: hits.map(capabilityHitToWire) };
  },
});

/** What a capability takes, in one short line for a model. */
export function briefParameters({ parameters }: { readonly parameters?: unknown }): string {
  return briefSignature(parameters);
}

export function capabilityHitToWire(hit: CapabilityHit) {
  return {
    slug: hit.slug,
    description: hit.description,
    parameters: hit.parameters,
    score: hit.score,
    success_rate: hit.successRate,
    uses: hit.uses,
    tools_used: hit.toolsUsed,
    tools_sequence: hit.toolsSequence,
  };
}
