import { z } from 'zod';
import { planToWire } from '../../core/vocabulary/plan-wire.ts';
import type { Suggestion } from '../../engine/gateway.ts';
import { jsonObject } from '../fields.ts';
import { capabilityHit, capabilityHitToWire } from './search-hit.ts';

/** A plan as `planToWire` gives it and `planFromWire` takes it back. */
export const plan = z
  .object({
    tasks: z.array(
      z.object({
        id: z.string(),
        tool: z.string().optional(),
        capability: z.string().optional(),
        code: z.string().optional(),
        name: z.string().optional(),
        arguments: jsonObject,
        depends_on: z.array(z.string()),
        when: z.unknown().optional(),
        for_each: z.unknown().optional(),
        retry: z.object({ attempts: z.number(), delay_ms: z.number() }).optional(),
        timeout_ms: z.number().optional(),
        idempotent: z.boolean().optional(),
        reason: z.string().optional(),
        confidence: z.number().optional(),
      }),
    ),
    inputs: z.array(z.object({ name: z.string(), schema: z.unknown(), description: z.string().optional() })),
    arguments: jsonObject.optional(),
    concurrency: z.number().optional(),
    decide: z.literal('layers').optional(),
  })
  .meta({ id: 'Plan' });

const NO_EVIDENCE_FOR_A_PLAN =
  'No past run is of this kind, and no tool fits by its text. Search for tools, then run what fits: it will be known next time.';

export const suggestion = z
  .object({
    /** By which a run says that it comes from it; null for a plan of nothing. */
    suggestion_id: z.string().nullable(),
    plan,
    /** Expected F1 of its tools, calibrated. */
    confidence: z.number(),
    /** Successful past runs near to the intent that used all of its tools. */
    support: z.number(),
    basis: z.enum(['runs', 'text', 'nothing']),
    /** Why the plan is empty. */
    reason: z.string().optional(),
    suggested_capabilities: z.array(capabilityHit),
  })
  .meta({ id: 'Suggestion' });

export function suggestionToWire(made: Suggestion) {
  const { id, confidence, support, basis, suggestedCapabilities } = made;
  return {
    suggestion_id: id,
    plan: planToWire(made.plan),
    confidence,
    support,
    basis,
    ...(basis === 'nothing' && { reason: NO_EVIDENCE_FOR_A_PLAN }),
    suggested_capabilities: suggestedCapabilities.map(capabilityHitToWire),
  };
}
