import { z } from 'zod';
import { planToWire } from '../core/vocabulary/plan.ts';
import { jsonObject } from './input-fields.ts';
import { operation } from './operation.ts';

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

export const planFromCode = operation({
  name: 'plan_from_code',
  right: 'run',
  summary: 'Converts a program to a plan; the error lists all reasons if that is not possible',
  input: z.strictObject({ code: z.string().min(1), arguments: jsonObject.optional() }),
  output: z.object({ plan }),
  http: { method: 'POST', path: '/plan' },
  async run({ gateway }, { code, arguments: args }) {
    const { plan: made, result } = await gateway.planFromCode(code, args);
    return { plan: planToWire({ ...made, ...(result !== undefined && { result }) }) };
  },
});
