import { z } from 'zod';
import type { CapabilityTest } from '../engine/capabilities/prove-capability.ts';
import { slug } from './input-fields.ts';
import { operation } from './operation.ts';
import { difference } from './replay-trace.ts';

export const testCapabilities = operation({
  name: 'test_capabilities',
  right: 'run',
  summary: 'Replays the recorded runs of one or all capabilities with their recorded answers',
  input: z.strictObject({
    /** Absent: all. */
    slug: slug.optional(),
  }),
  output: z.object({
    /** None failed. */
    passed: z.boolean(),
    capabilities: z.array(
      z.object({
        slug: z.string(),
        state: z.enum(['candidate', 'active', 'quarantined']),
        /** `no_cases`: none of its runs was recorded in full. */
        status: z.enum(['passed', 'failed', 'no_cases']),
        cases: z.array(
          z.object({
            hash: z.string(),
            trace_ids: z.array(z.string()),
            equal: z.boolean(),
            difference: difference.nullable(),
          }),
        ),
        /** What its recorded calls break on, with its tools as they are defined now. */
        problems: z.array(z.string()),
      }),
    ),
  }),
  http: { method: 'POST', path: '/capabilities/test' },
  async run({ gateway }, input, caller) {
    const tests = await gateway.capabilities.test(input.slug ?? null, caller);
    return {
      passed: tests.every(({ status }) => status !== 'failed'),
      capabilities: tests.map(testToWire),
    };
  },
});

function testToWire({ capability, status, cases, problems }: CapabilityTest) {
  return {
    slug: capability.slug,
    state: capability.state,
    status,
    cases: cases.map(({ hash, traceIds, difference }) => ({
      hash,
      trace_ids: traceIds,
      equal: difference === null,
      difference,
    })),
    problems,
  };
}
