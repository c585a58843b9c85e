import { z } from 'zod';
import { visibleTo } from '../engine/people/roles.ts';
import { count, slug } from './input-fields.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';
import { listedTrace, listedTraceToWire } from './shapes/trace.ts';

const DEFAULTS = { limit: 50, maxLimit: 500 };

export const listCapabilityRuns = operation({
  name: 'list_capability_runs',
  right: 'read',
  summary: 'The runs a capability was learned from, and those that called it, newest first',
  input: z.strictObject({ slug, limit: count(DEFAULTS.limit, DEFAULTS.maxLimit) }),
  output: z.object({
    /** As far as still stored. */
    learned_from: z.array(listedTrace),
    calls: z.array(listedTrace),
  }),
  http: { method: 'GET', path: '/capabilities/:slug/runs' },
  async run({ gateway }, input, caller) {
    const { id, evidence } = await gateway.capabilities.show(input.slug, caller);
    const seen = visibleTo(askerOf(caller));
    const { traces } = gateway.store;
    const [calls, ...learnedFrom] = await Promise.all([
      traces.list({ capabilityId: id, limit: input.limit, ...seen }),
      ...evidence.runIds.map((runId) => traces.list({ runId, limit: 1, ...seen })),
    ]);
    return {
      learned_from: learnedFrom.flat().map(listedTraceToWire),
      calls: calls.map(listedTraceToWire),
    };
  },
});
