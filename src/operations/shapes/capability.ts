import { z } from 'zod';
import { wilsonLowerBound } from '../../core/capabilities/lifecycle.ts';
import { capabilitySignature } from '../../core/capabilities/tool-signature.ts';
import { VISIBILITIES } from '../../core/vocabulary/principal.ts';
import type { Capability, CapabilityProof } from '../../engine/ports.ts';

const names = z.array(z.string());

/** For lists: without code and evidence. */
export const capabilitySummary = z
  .object({
    id: z.string(),
    slug: z.string(),
    aliases: names,
    description: z.string(),
    owner: z.string().nullable(),
    visibility: z.enum(VISIBILITIES),
    state: z.enum(['candidate', 'active', 'quarantined']),
    /** What it was learned from: a whole job or program, or a part that several jobs have in common. */
    origin: z.enum(['whole', 'part']),
    quarantined_because: z.string().nullable(),
    uses: z.number(),
    success_rate: z.number(),
    /** Wilson's lower bound of the success rate. */
    reliability: z.number(),
    /** JSON Schema. */
    parameters: z.unknown(),
    tools_used: names,
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
    evidence: z.object({
      recent: z.array(z.boolean()),
      run_ids: names,
      /** The definitions that its tools had, by tool id. */
      definitions: z.record(z.string(), z.string()),
      /** What it was shown to do again on recordings of its own runs; null: not tried yet. */
      proof: z
        .object({
          code_hash: z.string(),
          cases: z.array(z.object({ hash: z.string(), trace_ids: names })),
          effects: z.object({ tools: names, writes: names, hosts: names }),
          /** Why it is not active. */
          failure: z.string().nullable(),
          proven_at: z.string(),
        })
        .nullable(),
    }),
  })
  .meta({ id: 'Capability' });

export function capabilityToWire(found: Capability) {
  const { recent, runIds, definitionHashes: definitions, proof } = found.evidence;
  return {
    ...capabilitySummaryToWire(found),
    signature: capabilitySignature(found),
    intent: found.intentText,
    output: found.outputSchema,
    code: found.code,
    evidence: { recent, run_ids: runIds, definitions, proof: proof ? proofToWire(proof) : null },
  };
}

function proofToWire({ codeHash, cases, effects, failure, provenAt }: CapabilityProof) {
  return {
    code_hash: codeHash,
    cases: cases.map(({ hash, traceIds }) => ({ hash, trace_ids: traceIds })),
    effects,
    failure,
    proven_at: provenAt,
  };
}

/** With what its recorded runs say to a definition that changed. */
function reasonOf({ quarantinedBecause: because, retested }: Capability['evidence']): string | null {
  return because === null || retested === undefined ? because : `${because}; ${retested}`;
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
    origin: found.evidence.part ? ('part' as const) : ('whole' as const),
    state: found.state,
    quarantined_because: reasonOf(found.evidence),
    uses,
    success_rate: uses === 0 ? 0 : successes / uses,
    reliability: wilsonLowerBound(successes, uses),
    parameters: found.parametersSchema,
    tools_used: found.toolsUsed,
    created_at: found.createdAt.toISOString(),
    updated_at: found.updatedAt.toISOString(),
  };
}
