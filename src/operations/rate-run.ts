import { z } from 'zod';
import { maySee } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf, deciderOf, notFound } from './operation-context.ts';
import { verdict } from './shapes/trace.ts';

const DEFAULTS = { longestReason: 1_000 };

export const rateRun = operation({
  name: 'rate_run',
  // A person's word outranks what is inferred: an agent must not give it.
  right: 'decide',
  summary: 'Records whether a run did what was wanted, and why; learning takes it into account',
  input: z.strictObject({
    /** Of the run, or of its trace. */
    run_id: z.string(),
    /** Null takes back what was said. */
    good: z.boolean().nullable(),
    reason: z.string().max(DEFAULTS.longestReason).optional(),
  }),
  output: z.object({ trace_id: z.string(), verdict: verdict.nullable() }),
  http: { method: 'POST', path: '/runs/:run_id/verdict' },
  async run({ gateway }, { run_id: id, good, reason }, caller) {
    const { traces } = gateway.store;
    const [newest] = await traces.list({ runId: id, limit: 1 });
    const found = newest ?? (await traces.get(id));
    if (!found || !maySee(askerOf(caller), found)) throw notFound('Run', id, 'See GET /api/traces.');
    const said = { good, reason: reason?.trim() || null, by: deciderOf(caller) };
    return { trace_id: found.id, verdict: await gateway.learning.judge(found, said) };
  },
});
