import { z } from 'zod';
import { observedValueFlow } from '../../core/tracing/value-flow.ts';
import {
  type ExecutionTrace,
  RUN_KINDS,
  RUN_ORIGINS,
  traceSummaryToWire,
  traceToWire,
} from '../../core/vocabulary/execution-trace.ts';
import { VISIBILITIES } from '../../core/vocabulary/principal.ts';
import { ERROR_TYPES } from '../../core/vocabulary/trace-event.ts';
import { callOrder } from '../../engine/graph/trace-facts.ts';
import type { EpisodicEvent } from '../../engine/ports.ts';

/** What a person said of a run. */
export const verdict = z.object({
  good: z.boolean(),
  reason: z.string().nullable(),
  by: z.string(),
  at: z.string(),
});

/** For lists: without calls, events and program. */
const traceSummary = z
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
    verdict: verdict.nullable(),
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
    traceparent: z.string().optional(),
    success: z.boolean().optional(),
    duration_ms: z.number().optional(),
    error: z.string().optional(),
    error_type: z.enum(ERROR_TYPES).optional(),
    result: z.unknown().optional(),
  })
  .meta({ id: 'TraceEvent' });

export const listedTrace = traceSummary
  .extend({
    /** How many calls it made. */
    calls: z.number(),
  })
  .meta({ id: 'ListedTrace' });

/** As it is stored and exported. */
export const storedTrace = traceSummary
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
    guest: z
      .object({
        seed: z.string(),
        started_at: z.number(),
        args: z.unknown().optional(),
        /** By the place of a call in its program: milliseconds until its answer, and the code of its error. */
        answers: z.record(z.string(), z.array(z.unknown())).optional(),
        /** By the same place: the id of an earlier result that was read, and what that gave. */
        results: z.record(z.string(), z.object({ id: z.string(), reply: z.unknown().optional() })).optional(),
      })
      .nullable(),
    events: z.array(traceEvent),
  })
  .meta({ id: 'StoredTrace' });

/** With the data flow to arguments of later calls, and the order of calls. */
export const trace = storedTrace
  .extend({
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
    /** Direct successions of calls with the same parent. */
    follows: z.array(
      z.object({
        from_trace_id: z.string(),
        to_trace_id: z.string(),
        /** Only if operations between the two are ignored. */
        past_operations: z.boolean(),
      }),
    ),
    /** Events of the run in stored order: completed tasks, decisions of people and agents. */
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

export function listedTraceToWire(found: ExecutionTrace) {
  return { ...traceSummaryToWire(found), calls: found.toolInvocations.length };
}

function episodeToWire({ eventType, taskId, timestamp, data }: EpisodicEvent) {
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
