import { z } from 'zod';
import type { GatewayStats } from '../engine/gateway.ts';
import { operation } from './operation.ts';

export const getStats = operation({
  name: 'get_stats',
  right: 'read',
  summary: 'Figures of the gateway: servers, tools, capabilities, traces, tokens spared',
  input: z.strictObject({}),
  output: z.object({
    servers: z.number(),
    tools: z.number(),
    capabilities: z.number(),
    traces: z.number(),
    schema_tokens: z.number(),
    exposed_tokens: z.number(),
    spared_tokens: z.number(),
    pending_approvals: z.number(),
    /** Calls of workflows that ran ahead, and those whose result was used. */
    speculation: z.object({ started: z.number(), used: z.number(), hit_rate: z.number().nullable() }),
    /** How often and how long the process stood still. */
    loop: z.object({
      stalls: z.number(),
      stalled_ms: z.number(),
      longest_ms: z.number(),
      last: z.object({ at: z.string(), ms: z.number(), during: z.array(z.string()) }).nullable(),
    }),
    last_event_id: z.string(),
  }),
  http: { method: 'GET', path: '/stats' },
  async run({ gateway, lastEventId }) {
    // Before the figures, so that nothing falls between them and the first event.
    const last_event_id = lastEventId();
    return { ...statsToWire(await gateway.stats()), last_event_id };
  },
});

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
