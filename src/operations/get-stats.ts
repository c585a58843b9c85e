import { z } from 'zod';
import { estimateTokens } from '../core/vocabulary/text.ts';
import type { GatewayStats } from '../engine/catalogue/inventory.ts';
import { operation } from './operation.ts';
import type { ReadingTotals } from './operation-context.ts';

export const getStats = operation({
  name: 'get_stats',
  right: 'read',
  summary: 'Statistics of the gateway: servers, tools, capabilities, traces, saved tokens',
  input: z.strictObject({}),
  output: z.object({
    servers: z.number(),
    tools: z.number(),
    capabilities: z.number(),
    traces: z.number(),
    /** Estimates: what a model would read of all tools directly, what it reads instead, and the difference. */
    schema_tokens: z.number(),
    exposed_tokens: z.number(),
    spared_tokens: z.number(),
    /**
     * Per session since the gateway started, answers included: what a model read, and what it would have read
     * directly, at least: results that only code saw are not counted. Null if there was no session.
     */
    per_session: z
      .object({ sessions: z.number(), read_tokens: z.number(), direct_tokens: z.number() })
      .nullable(),
    pending_approvals: z.number(),
    /** Speculative calls of workflows, and how many results were used. */
    speculation: z.object({ started: z.number(), used: z.number(), hit_rate: z.number().nullable() }),
    /** Number and length of event loop stalls. */
    loop: z.object({
      stalls: z.number(),
      stalled_ms: z.number(),
      longest_ms: z.number(),
      last: z.object({ at: z.string(), ms: z.number(), during: z.array(z.string()) }).nullable(),
    }),
    last_event_id: z.string(),
  }),
  http: { method: 'GET', path: '/stats' },
  async run({ gateway, lastEventId, reading }) {
    // Read before the figures, so that no event is missed between the two.
    const last_event_id = lastEventId();
    const stats = await gateway.stats();
    return { ...statsToWire(stats), per_session: perSession(stats, reading), last_event_id };
  },
});

function perSession({ schemaTokens, exposedTokens }: GatewayStats, reading: ReadingTotals) {
  const { sessions, characters, direct } = reading;
  if (sessions === 0) return null;
  const [read, directly] = [estimateTokens(characters / sessions), estimateTokens(direct / sessions)];
  return { sessions, read_tokens: exposedTokens + read, direct_tokens: schemaTokens + directly };
}

function statsToWire(stats: GatewayStats) {
  const { speculation, loop } = stats;
  return {
    servers: stats.servers,
    tools: stats.tools,
    capabilities: stats.capabilities,
    traces: stats.traces,
    schema_tokens: stats.schemaTokens,
    exposed_tokens: stats.exposedTokens,
    spared_tokens: stats.sparedTokens,
    pending_approvals: stats.pendingApprovals,
    speculation: {
      ...speculation,
      hit_rate: speculation.started === 0 ? null : speculation.used / speculation.started,
    },
    loop: {
      stalls: loop.stalls,
      stalled_ms: loop.stalledMs,
      longest_ms: loop.longestMs,
      last: loop.last,
    },
  };
}
