import { z } from 'zod';
import { planToWire } from '../core/vocabulary/plan-wire.ts';
import { jsonObject } from './input-fields.ts';
import { operation } from './operation.ts';
import { plan } from './shapes/plan.ts';

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
