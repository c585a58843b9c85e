import {
  type ExecutionTrace,
  type GuestAnswers,
  type GuestResult,
  type GuestResults,
  guestFromWire,
  RUN_ORIGINS,
  type RunVerdict,
} from './execution-trace.ts';
import { capabilityNode, kindOf, type NodeId, operationId, toolId } from './ids.ts';
import { VISIBILITIES } from './principal.ts';
import {
  anything,
  boolean,
  fieldsOf,
  idOf,
  listOf,
  numberFrom,
  oneOf,
  orNull,
  type Read,
  string,
  wrong,
} from './read-wire.ts';
import { parentSpanOf } from './trace-context.ts';
import {
  ERROR_TYPES,
  fromWire,
  isEnd,
  type StartEvent,
  type TraceEvent,
  type WireTraceEvent,
} from './trace-event.ts';

const DEFAULTS = {
  /** Longest id of a trace, run, session, capability, call or node, in UTF-16 units. */
  id: 512,
  /** Most events of one trace: a start and an end for a hundred thousand calls. */
  events: 200_000,
  /** Longest reason of a verdict, in UTF-16 units. Hiding a secret in it may have made it longer. */
  reason: 4_000,
  /** Priority of a trace that does not state one. */
  priority: 0.5,
  /** Far above the |TD error| of any outcome in [0, 1], so that a sender cannot buy a place in the replay buffer. */
  maxPriority: 10,
};

/** A trace from outside. Fields that follow from its events are derived again, whatever the line says. */
export type ToldTrace = Omit<ExecutionTrace, 'executedPath' | 'toolInvocations'>;

/** The counterpart of `traceToWire` for lines of unknown origin: checks every field and the tree of calls. */
export function traceFromWire(wire: unknown): ToldTrace {
  const trace = fieldsOf(wire, '');
  const events = trace.get('events', listOf(event, DEFAULTS.events));
  checkCalls(events);
  const said = trace.get('verdict', orNull(verdict));
  return {
    id: trace.get('id', id),
    runId: trace.get('run_id', id),
    sessionId: trace.get('session_id', orNull(id)),
    // Traces from before this field existed were all started by agents.
    origin: trace.get('origin', orNull(oneOf(RUN_ORIGINS))) ?? 'agent',
    owner: trace.get('owner', orNull(id)),
    // Traces from before this field existed could be seen by everybody.
    visibility: trace.get('visibility', orNull(oneOf(VISIBILITIES))) ?? 'shared',
    capabilityId: trace.get('capability_id', orNull(id)),
    intentText: trace.get('intent_text', orNull(string)),
    intentEmbedding: null,
    embeddingModel: null,
    executedAt: trace.get('executed_at', moment),
    success: trace.get('success', boolean),
    durationMs: trace.get('duration_ms', numberFrom(0)),
    errorMessage: trace.get('error_message', orNull(string)),
    errorType: trace.get('error_type', orNull(oneOf(ERROR_TYPES))),
    decisions: trace.get('decisions', orNull(listOf(anything))) ?? [],
    taskResults: trace.get('task_results', orNull(listOf(anything))) ?? [],
    priority: trace.get('priority', orNull(numberFrom(0, DEFAULTS.maxPriority))) ?? DEFAULTS.priority,
    code: trace.get('code', orNull(string)),
    guest: trace.get('guest', orNull(guest)),
    events,
    ...(said && { verdict: said }),
  };
}

const id = idOf(DEFAULTS.id);

const YEAR_10000 = Date.UTC(10_000, 0);

const moment: Read<Date> = (value, at) => {
  const text = string(value, at);
  const date = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && date.getTime() >= 0 && date.getTime() < YEAR_10000) return date;
  throw wrong(at, 'must be a date from 1970 on, such as 2026-11-15T10:20:30.456Z');
};

const verdict: Read<RunVerdict> = (value, at) => {
  const fields = fieldsOf(value, at);
  const reason = fields.get('reason', orNull(string));
  if (reason !== null && reason.length > DEFAULTS.reason)
    throw wrong(`${at}.reason`, `must have at most ${DEFAULTS.reason} characters`);
  return {
    good: fields.get('good', boolean),
    reason,
    by: fields.get('by', id),
    at: fields.get('at', moment).toISOString(),
  };
};

const guest: Read<NonNullable<ExecutionTrace['guest']>> = (value, at) => {
  const fields = fieldsOf(value, at);
  return guestFromWire({
    seed: fields.get('seed', string),
    started_at: fields.get('started_at', numberFrom(Number.MIN_SAFE_INTEGER)),
    ...fields.maybe('args', anything),
    ...fields.maybe('answers', answers),
    ...fields.maybe('results', results),
  });
};

/** `#0`, `#1#0`: places of calls in programs. */
const PLACE = /^(?:#\d{1,9}){1,64}$/;

const answers: Read<GuestAnswers> = (value, at) => {
  const entries = Object.entries((value ?? {}) as object).map(([place, answer]) => {
    const here = `${at}.${place}`;
    if (!PLACE.test(place) || !Array.isArray(answer))
      throw wrong(here, 'is not the time of an answer to a call');
    const ms = numberFrom(0)(answer[0], here);
    const told: GuestAnswers[string] = answer[1] === undefined ? [ms] : [ms, id(answer[1], here)];
    return [place, told] as const;
  });
  return Object.fromEntries(entries);
};

const results: Read<GuestResults> = (value, at) => {
  const entries = Object.entries((value ?? {}) as object).map(([place, read]) => {
    const here = `${at}.${place}`;
    if (!PLACE.test(place)) throw wrong(here, 'is not the place of a call');
    const fields = fieldsOf(read, here);
    return [place, { id: fields.get('id', id), ...fields.maybe('reply', reply) }] as const;
  });
  return Object.fromEntries(entries);
};

const reply: Read<NonNullable<GuestResult['reply']>> = (value, at) => {
  const fields = fieldsOf(value, at);
  if (fields.get('ok', boolean)) return { ok: true, value: fields.get('value', anything) };
  return { ok: false, code: fields.get('code', id), message: fields.get('message', string) };
};

const node: Read<NodeId> = (value, at) => {
  const text = id(value, at);
  const colon = text.indexOf(':');
  const [server, name] = [text.slice(0, Math.max(0, colon)), text.slice(colon + 1)];
  try {
    if (kindOf(text) === 'capability') return capabilityNode(name);
    return kindOf(text) === 'operation' ? operationId(name) : toolId(server, name);
  } catch (error) {
    throw wrong(at, `is not the id of a tool, capability or operation: ${(error as Error).message}`);
  }
};

const EVENT_TYPES = ['tool_start', 'tool_end', 'capability_start', 'capability_end'] as const;

const traceparent: Read<string> = (value, at) => {
  if (parentSpanOf(value) === null) throw wrong(at, 'is not a W3C traceparent');
  return String(value);
};

const event: Read<TraceEvent> = (value, at) => {
  const fields = fieldsOf(value, at);
  const type = fields.get('type', oneOf(EVENT_TYPES));
  const base = {
    type,
    trace_id: fields.get('trace_id', id),
    parent_trace_id: fields.get('parent_trace_id', orNull(id)),
    node: fields.get('node', node),
    ts: fields.get('ts', numberFrom(0)),
  };
  if (type.startsWith('capability') !== (kindOf(base.node) === 'capability')) {
    throw wrong(at, `is a ${type} of ${base.node}, which is a ${kindOf(base.node)}`);
  }
  const wire: WireTraceEvent = type.endsWith('_start')
    ? { ...base, ...fields.maybe('args', anything), ...fields.maybe('traceparent', traceparent) }
    : {
        ...base,
        success: fields.get('success', boolean),
        duration_ms: fields.get('duration_ms', numberFrom(0)),
        ...fields.maybe('error', string),
        ...fields.maybe('error_type', oneOf(ERROR_TYPES)),
        ...fields.maybe('result', anything),
      };
  return fromWire(wire);
};

/** Every call starts once, ends at most once and after its start, and has a parent that started before it. */
function checkCalls(events: readonly TraceEvent[]): void {
  const starts = new Map<string, StartEvent>();
  for (const [index, event] of events.entries()) {
    if (isEnd(event)) continue;
    if (starts.has(event.traceId))
      throw wrong(`events[${index}]`, `starts call ${event.traceId} a second time`);
    starts.set(event.traceId, event);
  }
  const ended = new Set<string>();
  for (const [index, event] of events.entries()) {
    const at = `events[${index}]`;
    const start = starts.get(event.traceId);
    if (!start) throw wrong(at, `ends call ${event.traceId}, which never started`);
    if (isEnd(event)) {
      if (ended.has(event.traceId)) throw wrong(at, `ends call ${event.traceId} a second time`);
      if (event.node !== start.node || event.parentTraceId !== start.parentTraceId)
        throw wrong(at, `has another node or parent than the start of call ${event.traceId}`);
      if (event.ts < start.ts) throw wrong(at, `ends call ${event.traceId} before it started`);
      ended.add(event.traceId);
    } else if (event.parentTraceId !== null) {
      const parent = starts.get(event.parentTraceId);
      if (!parent) throw wrong(at, `has parent ${event.parentTraceId}, which is not a call of this trace`);
      if (event.ts < parent.ts) throw wrong(at, `starts before its parent ${event.parentTraceId}`);
    }
  }
  checkNoCircle(starts);
}

function checkNoCircle(starts: ReadonlyMap<string, StartEvent>): void {
  const rooted = new Set<string>();
  for (const first of starts.keys()) {
    const path = new Set<string>();
    for (let at: string | null = first; at !== null && !rooted.has(at); at = starts.get(at)!.parentTraceId) {
      if (path.has(at)) throw wrong('events', `have a circle of parents through call ${at}`);
      path.add(at);
    }
    for (const call of path) rooted.add(call);
  }
}
