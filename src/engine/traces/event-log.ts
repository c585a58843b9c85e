import { LRUCache } from 'lru-cache';
import type { RunOrigin } from '../../core/vocabulary/execution-trace.ts';
import type { Ownership } from '../../core/vocabulary/principal.ts';
import { weighJson } from '../../core/vocabulary/read-wire.ts';
import type { WireTraceEvent } from '../../core/vocabulary/trace-event.ts';
import type { Clock, EventSink, GatewayEvent } from '../ports.ts';

/** How many events a watcher may miss and still catch up. */
const DEFAULTS = {
  kept: 2_000,
  /** And how many characters they may have together: a single result may have a million. */
  characters: 8 * 1024 * 1024,
  /** Events of one run under way that a snapshot has; the rest is in its trace when it ends. */
  eventsPerRun: 2_000,
  /** Private runs whose events are told apart from others'. */
  runs: 10_000,
};

const EVERYBODYS: Ownership = { owner: null, visibility: 'shared' };

export interface NumberedEvent {
  /** Counts up by one, within one life of the gateway. */
  readonly seq: number;
  readonly at: string;
  readonly event: GatewayEvent;
  /** Whose business it is: that of the run or the capability it tells of. */
  readonly ownership: Ownership;
}

/** Events with sequence numbers: a page takes a snapshot, then follows, and misses nothing on reconnect. */
export interface EventLog extends EventSink {
  readonly lastSeq: number;
  /** The kept events after `seq`; null when some of them were dropped. */
  since(seq: number): readonly NumberedEvent[] | null;
  follow(listener: (event: NumberedEvent) => void): () => void;
  /** A person who may decide is looking on, until the answer is called: questions to people are seen. */
  attend(): () => void;
  readonly isAttended: boolean;
  /** Redacts what is kept of a run once more: more is known to be secret by now. */
  amend(runId: string, redact: (value: unknown) => unknown): void;
}

export function createEventLog(clock: Clock, kept = DEFAULTS.kept): EventLog {
  const events: NumberedEvent[] = [];
  const weights: number[] = [];
  let weight = 0;
  const listeners = new Set<(event: NumberedEvent) => void>();
  const attending = new Set<symbol>();
  let lastSeq = 0;
  /** Busy gateways tell many events within a millisecond. */
  let now = { ms: Number.NaN, text: '' };
  const at = (): string => {
    const moment = clock.now();
    const ms = moment.getTime();
    if (ms !== now.ms) now = { ms, text: moment.toISOString() };
    return now.text;
  };
  const privateRuns = new LRUCache<string, Ownership>({ max: DEFAULTS.runs });
  const ownership = (event: GatewayEvent): Ownership => {
    if (event.type === 'run_started' && event.visibility === 'private') {
      const { run_id, owner, visibility } = event;
      privateRuns.set(run_id, { owner, visibility });
    }
    if (event.type === 'capability_changed' && event.visibility === 'private')
      return { owner: event.owner ?? null, visibility: event.visibility };
    return ('run_id' in event && privateRuns.get(event.run_id)) || EVERYBODYS;
  };
  return {
    get lastSeq() {
      return lastSeq;
    },
    emit(event) {
      lastSeq += 1;
      const numbered = { seq: lastSeq, at: at(), event, ownership: ownership(event) };
      events.push(numbered);
      weights.push(weighJson(event).characters);
      weight += weights.at(-1)!;
      while (events.length > kept || (weight > DEFAULTS.characters && events.length > 1)) {
        events.shift();
        weight -= weights.shift()!;
      }
      for (const listener of listeners) listener(numbered);
    },
    since(seq) {
      const oldest = events[0]?.seq ?? lastSeq + 1;
      if (seq > lastSeq || seq < oldest - 1) return seq === lastSeq ? [] : null;
      return events.filter((event) => event.seq > seq);
    },
    amend(runId, redact) {
      for (const [index, numbered] of events.entries()) {
        const { event } = numbered;
        if (!('run_id' in event) || event.run_id !== runId) continue;
        const amended = redactedOnceMore(event, redact);
        events[index] = { ...numbered, event: amended };
        weight -= weights[index]!;
        weights[index] = weighJson(amended).characters;
        weight += weights[index]!;
      }
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    attend() {
      const person = Symbol();
      attending.add(person);
      return () => void attending.delete(person);
    },
    get isAttended() {
      return attending.size > 0;
    },
  };
}

function redactedOnceMore(event: GatewayEvent, redact: (value: unknown) => unknown): GatewayEvent {
  if (event.type === 'trace_event') {
    const { args, result, error, ...rest } = event.event as WireTraceEvent & Record<string, unknown>;
    const texts = redact({ args, result, error }) as Record<string, unknown>;
    const told = Object.entries(texts).filter(([, value]) => value !== undefined);
    return { ...event, event: { ...rest, ...Object.fromEntries(told) } as WireTraceEvent };
  }
  if (event.type === 'run_started' && event.intent !== null)
    return { ...event, intent: String(redact(event.intent)) };
  return event;
}

/** Runs in progress, as known from their events. */
interface OpenRuns {
  count(): number;
  close(): void;
}

export function watchRuns(events: Pick<EventLog, 'follow'>): OpenRuns {
  const underWay = new Set<string>();
  const close = events.follow(({ event }) => {
    if (event.type === 'run_started') underWay.add(event.run_id);
    if (event.type === 'run_finished') underWay.delete(event.run_id);
  });
  return { count: () => underWay.size, close };
}

/** A run in progress, as far as its events describe it. */
export interface LiveRun extends Pick<NumberedEvent, 'ownership'> {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly origin: RunOrigin;
  readonly intent: string | null;
  readonly started_at: string;
  readonly events: (WireTraceEvent & { readonly at: string })[];
}

/** Runs in progress from now on, by run id. */
export function trackRuns(log: EventLog): ReadonlyMap<string, LiveRun> {
  const runs = new Map<string, LiveRun>();
  const note = ({ event, at, ownership }: NumberedEvent) => {
    if (event.type === 'run_started') {
      const { run_id, session_id, origin, intent } = event;
      runs.set(run_id, { run_id, session_id, origin, intent, started_at: at, events: [], ownership });
    }
    if (event.type === 'trace_event') {
      const run = runs.get(event.run_id);
      if (run && run.events.length < DEFAULTS.eventsPerRun) run.events.push({ ...event.event, at });
    }
    if (event.type === 'run_finished') runs.delete(event.run_id);
  };
  for (const event of log.since(0) ?? []) note(event);
  log.follow(note);
  return runs;
}
