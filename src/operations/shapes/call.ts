import { z } from 'zod';
import { estimateTokens } from '../../core/vocabulary/text.ts';
import { ERROR_TYPES } from '../../core/vocabulary/trace-event.ts';
import type { CallFilter, StoredCall } from '../../engine/ports.ts';
import { moment } from '../input-fields.ts';

export const callFilter = z.strictObject({
  tool: z.string().optional(),
  server: z.string().optional(),
  status: z.enum(['success', 'error']).optional(),
  error_type: z.enum(ERROR_TYPES).optional(),
  /** Part of the error's text. */
  text: z.string().optional(),
  /** Whose run made the call. */
  user: z.string().optional(),
  run_id: z.string().optional(),
  session_id: z.string().optional(),
  /** Only calls that a person was asked about. */
  asked: z.boolean().optional(),
  since: moment.optional(),
  until: moment.optional(),
  /** Took at least so many milliseconds. */
  min_ms: z.number().min(0).optional(),
  /** Arguments and answer together. */
  min_bytes: z.number().min(0).optional(),
});

/** Query parameters with names of their own. */
export const CALL_QUERY = { session_id: 'session', run_id: 'run', text: 'q', error_type: 'error' };

export const call = z
  .object({
    /** As the events of the trace name it. */
    id: z.string(),
    tool: z.string(),
    trace_id: z.string(),
    run_id: z.string(),
    session_id: z.string().nullable(),
    intent_text: z.string().nullable(),
    user: z.string().nullable(),
    started_at: z.string(),
    /** Null if it did not end. */
    duration_ms: z.number().nullable(),
    success: z.boolean(),
    error_type: z.enum(ERROR_TYPES).nullable(),
    /** The beginning of the message. */
    error: z.string().nullable(),
    /** Of the arguments and of the answer, as recorded; null where they are not. */
    sent_bytes: z.number().nullable(),
    received_bytes: z.number().nullable(),
    /** About what a model reads of both; null where neither is recorded. */
    tokens: z.number().nullable(),
    approval: z
      .object({
        state: z.enum(['pending', 'approved', 'rejected', 'used']),
        settled_by: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'Call' });

export type WireCall = z.output<typeof call>;

/** Absent filters are left out. */
export function filterOf(asked: z.output<typeof callFilter>): CallFilter {
  const { status, error_type, user, run_id, session_id, min_ms, min_bytes, ...rest } = asked;
  const wanted = {
    ...rest,
    success: status && status === 'success',
    errorType: error_type,
    owner: user,
    runId: run_id,
    sessionId: session_id,
    minMs: min_ms,
    minBytes: min_bytes,
  };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
}

export function callToWire(made: StoredCall): WireCall {
  const { sent, received, approval } = made;
  const bytes = sent === null && received === null ? null : (sent ?? 0) + (received ?? 0);
  return {
    id: made.id,
    tool: made.tool,
    trace_id: made.traceId,
    run_id: made.runId,
    session_id: made.sessionId,
    intent_text: made.intentText,
    user: made.owner,
    started_at: made.startedAt.toISOString(),
    duration_ms: made.durationMs,
    success: made.success,
    error_type: made.errorType,
    error: made.error,
    sent_bytes: sent,
    received_bytes: received,
    tokens: bytes === null ? null : estimateTokens(bytes),
    approval: approval && { state: approval.state, settled_by: approval.settledBy },
  };
}
