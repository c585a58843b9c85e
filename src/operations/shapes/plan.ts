import { z } from 'zod';
import { jsonObject } from '../input-fields.ts';

/** A plan as written by `planToWire` and read by `planFromWire`. */
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
    /** What the plan as code returns, with references. */
    result: z.unknown().optional(),
  })
  .meta({ id: 'Plan' });

/** Why one task waits for another. */
export const planEdge = z.object({ from: z.string(), to: z.string(), reason: z.string() });
