import { z } from 'zod';
import { wilsonLowerBound } from '../../core/capabilities/lifecycle.ts';
import { capabilitySignature } from '../../core/capabilities/tool-signature.ts';
import { VISIBILITIES } from '../../core/vocabulary/principal.ts';
import type { Capability } from '../../engine/ports.ts';

/** Without its code and where it comes from, for lists. */
export const capabilitySummary = z
  .object({
    id: z.string(),
    slug: z.string(),
    aliases: z.array(z.string()),
    description: z.string(),
    owner: z.string().nullable(),
    visibility: z.enum(VISIBILITIES),
    state: z.enum(['candidate', 'active', 'quarantined']),
    quarantined_because: z.string().nullable(),
    uses: z.number(),
    success_rate: z.number(),
    /** Wilson's lower bound of the success rate. */
    reliability: z.number(),
    /** JSON Schema. */
    parameters: z.unknown(),
    tools_used: z.array(z.string()),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'CapabilitySummary' });

export const capability = capabilitySummary
  .extend({
    signature: z.string(),
    intent: z.string().nullable(),
    output: z.unknown(),
    code: z.string(),
    evidence: z.object({ recent: z.array(z.boolean()), run_ids: z.array(z.string()) }),
  })
  .meta({ id: 'Capability' });

export function capabilityToWire(found: Capability) {
  const { evidence } = found;
  return {
    ...capabilitySummaryToWire(found),
    signature: capabilitySignature(found),
    intent: found.intentText,
    output: found.outputSchema,
    code: found.code,
    evidence: { recent: evidence.recent, run_ids: evidence.runIds },
  };
}

export function capabilitySummaryToWire(found: Capability) {
  const { uses, successes } = found;
  return {
    id: found.id,
    slug: found.slug,
    aliases: found.aliases,
    description: found.description,
    owner: found.owner,
    visibility: found.visibility,
    state: found.state,
    quarantined_because: found.evidence.quarantinedBecause,
    uses,
    success_rate: uses === 0 ? 0 : successes / uses,
    reliability: wilsonLowerBound(successes, uses),
    parameters: found.parametersSchema,
    tools_used: found.toolsUsed,
    created_at: found.createdAt.toISOString(),
    updated_at: found.updatedAt.toISOString(),
  };
}
