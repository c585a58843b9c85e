import type { ExecutionTrace } from '../vocabulary/execution-trace.ts';
import { isEnd, type TraceEvent } from '../vocabulary/trace-event.ts';

type Texts = Pick<
  ExecutionTrace,
  'intentText' | 'errorMessage' | 'code' | 'decisions' | 'taskResults' | 'guest' | 'events'
>;
type Redact = (value: unknown) => unknown;

/** Piece by piece as it is recorded, so that what is clean stays as it is. */
export function redactTrace<T extends Texts>(trace: T, redact: Redact): T {
  const text = (value: string | null) => (value === null ? null : String(redact(value)));
  return {
    ...trace,
    intentText: text(trace.intentText),
    errorMessage: text(trace.errorMessage),
    code: text(trace.code),
    decisions: trace.decisions.map((decision) => redact(decision)),
    taskResults: trace.taskResults.map((result) => redact(result)),
    guest: trace.guest && { ...trace.guest, args: redact(trace.guest.args) },
    events: trace.events.map((event) => redactEvent(event, redact)),
  };
}

export function redactEvent(event: TraceEvent, redact: Redact): TraceEvent {
  if (!isEnd(event)) return event.args === undefined ? event : { ...event, args: redact(event.args) };
  return {
    ...event,
    ...(event.error !== undefined && { error: String(redact(event.error)) }),
    ...(event.result !== undefined && { result: redact(event.result) }),
  };
}
