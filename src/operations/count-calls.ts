import { z } from 'zod';
import { estimateTokens } from '../core/vocabulary/text.ts';
import { visibleTo } from '../engine/people/roles.ts';
import { operation } from './operation.ts';
import { askerOf } from './operation-context.ts';
import { CALL_QUERY, callFilter, filterOf } from './shapes/call.ts';

export const countCalls = operation({
  name: 'count_calls',
  right: 'read',
  summary: 'Tool calls counted by tool or by error: how many, how many failed, how long they took',
  input: callFilter.extend({ by: z.enum(['tool', 'error']).default('tool') }),
  output: z.object({
    /** Most calls first. */
    groups: z.array(
      z.object({
        /** A tool, or a type of error; null for calls that did not fail. */
        key: z.string().nullable(),
        calls: z.number(),
        failed: z.number(),
        median_ms: z.number().nullable(),
        p95_ms: z.number().nullable(),
        bytes: z.number(),
        tokens: z.number(),
        newest: z.string(),
      }),
    ),
    /** Older calls were not counted; null: all were. */
    since: z.string().nullable(),
  }),
  http: { method: 'GET', path: '/calls/groups', query: CALL_QUERY },
  async run({ gateway }, { by, ...asked }, caller) {
    const filter = { ...filterOf(asked), ...visibleTo(askerOf(caller)) };
    const { groups, since } = await gateway.store.calls.group(filter, by);
    return {
      groups: groups.map(({ key, calls, failed, medianMs, p95Ms, bytes, newest }) => ({
        key,
        calls,
        failed,
        median_ms: medianMs,
        p95_ms: p95Ms,
        bytes,
        tokens: estimateTokens(bytes),
        newest: newest.toISOString(),
      })),
      since: since?.toISOString() ?? null,
    };
  },
});
