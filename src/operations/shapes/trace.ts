import { z } from 'zod';
import { observedValueFlow } from '../../core/tracing/value-flow.ts';
import {
  type ExecutionTrace,
  RUN_KINDS,
  RUN_ORIGINS,
  traceToWire,
} from '../../core/vocabulary/execution-trace.ts';
import { VISIBILITIES } from '../../core/vocabulary/principal.ts';
import { ERROR_TYPES } from '../../core/vocabulary/trace-event.ts';
import { callOrder } from '../../engine/graph/call-order.ts';
import type { EpisodicEvent } from '../../engine/ports.ts';

/** Without its calls, events and program, for lists. */
export const traceSummary = z
  .object({
    id: z.string(),
    run_id: z.string(),
    kind: z.enum(RUN_KINDS),
    session_id: z.string().nullable(),
    origin: z.enum(RUN_ORIGINS),
    owner: z.string().nullable(),
    visibility: z.enum(VISIBILITIES),
    capability_id: z.string().nullable(),
    intent_text: z.string().nullable(),
    executed_at: z.string(),
    success: z.boolean(),
    duration_ms: z.number(),
    error_message: z.string().nullable(),
    error_type: z.enum(ERROR_TYPES).nullable(),
    executed_path: z.array(z.string()),
    decisions: z.array(z.unknown()),
    task_results: z.array(z.unknown()),
    priority: z.number(),
  })
  .meta({ id: 'TraceSummary' });

export const traceEvent = z
  .object({
    type: z.enum(['tool_start', 'capability_start', 'tool_end', 'capability_end']),
    trace_id: z.string(),
    parent_trace_id: z.string().nullable(),
    node: z.string(),
    ts: z.number(),
    args: z.unknown().optional(),
    success: z.boolean().optional(),
    duration_ms: z.number().optional(),
    error: z.string().optional(),
    error_type: z.enum(ERROR_TYPES).optional(),
    result: z.unknown().optional(),
  })
  .meta({ id: 'TraceEvent' });

/** With which values went into the arguments of later calls, and what came after what. */
export const trace = traceSummary
  .extend({
    tool_invocations: z.array(
      z.object({
        id: z.string(),
        tool: z.string(),
        ts: z.number(),
        duration_ms: z.number(),
        sequence_index: z.number(),
        success: z.boolean(),
        parallel_with: z.array(z.string()),
      }),
    ),
    code: z.string().nullable(),
    guest: z.object({ seed: z.string(), started_at: z.number(), args: z.unknown().optional() }).nullable(),
    events: z.array(traceEvent),
    value_flow: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        from_path: z.string(),
        to_path: z.string(),
        from_trace_id: z.string(),
        to_trace_id: z.string(),
      }),
    ),
    /** Which call directly followed which of the same parent. */
    follows: z.array(
      z.object({
        from_trace_id: z.string(),
        to_trace_id: z.string(),
        /** Only when the operations between the two are looked through. */
        past_operations: z.boolean(),
      }),
    ),
    /** What happened to the run, in the order it was stored: completed tasks, decisions of people and agents. */
    episodes: z.array(
      z.object({
        event_type: z.string(),
        task_id: z.string().nullable(),
        at: z.string(),
        data: z.record(z.string(), z.unknown()),
      }),
    ),
  })
  .meta({ id: 'Trace' });

export function episodeToWire({ eventType, taskId, timestamp, data }: EpisodicEvent) {
  return { event_type: eventType, task_id: taskId, at: timestamp.toISOString(), data };
}

export function seenTraceToWire(found: ExecutionTrace, episodes: readonly EpisodicEvent[]) {
  const { events, code, guest } = found;
  const flows = observedValueFlow(events, { args: guest?.args, code });
  return {
    ...traceToWire(found),
    value_flow: flows.map(({ from, to, fromPath, toPath, fromTraceId, toTraceId }) => ({
      from,
      to,
      from_path: fromPath,
      to_path: toPath,
      from_trace_id: fromTraceId,
      to_trace_id: toTraceId,
    })),
    follows: callOrder(events).map(({ fromTraceId, toTraceId, pastOperations }) => ({
      from_trace_id: fromTraceId,
      to_trace_id: toTraceId,
      past_operations: pastOperations,
    })),
    episodes: episodes.map(episodeToWire),
  };
}
