import { z } from 'zod';
import { ERROR_CODES } from '../core/vocabulary/pml-error.ts';
import type { ServerReport } from '../engine/catalogue/inventory.ts';
import { operation } from './operation.ts';

export const errorShape = z
  .object({ code: z.enum(ERROR_CODES), message: z.string(), hint: z.string().optional() })
  .meta({ id: 'Error' });

const server = z
  .object({
    name: z.string(),
    transport: z.string(),
    state: z.enum(['idle', 'starting', 'ready', 'backoff', 'failed', 'disabled']),
    since: z.string(),
    error: errorShape.nullable(),
    pid: z.number().nullable(),
    protocol_version: z.string().nullable(),
    tools: z.number(),
    /** Tools whose definition changed and must be accepted by a person. */
    changed_tools: z.array(z.string()),
    schema_tokens: z.number(),
    /** Texts that may be meant to mislead a model or a person; `tool` is null for the server itself. */
    suspicions: z.array(
      z.object({
        tool: z.string().nullable(),
        kind: z.enum(['hidden_text', 'instruction', 'look_alike']),
        at: z.string(),
        what: z.string(),
      }),
    ),
    calls_in_flight: z.number(),
    calls_waiting: z.number(),
    /** Lines on stdout that were not messages. */
    garbage_lines: z.number(),
  })
  .meta({ id: 'Server' });

function serverToWire(report: ServerReport) {
  return {
    name: report.name,
    transport: report.transport,
    state: report.state,
    since: report.since.toISOString(),
    error: report.error,
    pid: report.pid,
    protocol_version: report.protocolVersion,
    tools: report.tools,
    changed_tools: report.changedTools,
    schema_tokens: report.schemaTokens,
    suspicions: [...report.suspicions],
    calls_in_flight: report.callsInFlight,
    calls_waiting: report.callsWaiting,
    garbage_lines: report.garbageLines,
  };
}

export const listServers = operation({
  name: 'list_servers',
  right: 'read',
  scoped: true,
  summary: 'State of each attached server',
  input: z.strictObject({}),
  output: z.object({ servers: z.array(server), last_event_id: z.string() }),
  http: { method: 'GET', path: '/servers' },
  async run({ gateway, lastEventId }, _, caller) {
    const last_event_id = lastEventId();
    return { servers: (await gateway.servers(caller)).map(serverToWire), last_event_id };
  },
});
