import type { Clock, EventSink, GatewayEvent } from './ports.ts';

/** How many events a watcher may miss and still catch up. */
const DEFAULTS = { kept: 2_000 };

export interface NumberedEvent {
  /** Counts up by one, within one life of the gateway. */
  readonly seq: number;
  readonly at: string;
  readonly event: GatewayEvent;
}

/** Events with sequence numbers: a page takes a snapshot, then follows, and misses nothing on reconnect. */
export interface EventLog extends EventSink {
  readonly lastSeq: number;
  /** The kept events after `seq`; null when some of them are no longer kept. */
  since(seq: number): readonly NumberedEvent[] | null;
  follow(listener: (event: NumberedEvent) => void): () => void;
}

export function createEventLog(clock: Clock, kept = DEFAULTS.kept): EventLog {
  const events: NumberedEvent[] = [];
  const listeners = new Set<(event: NumberedEvent) => void>();
  let lastSeq = 0;
  return {
    get lastSeq() {
      return lastSeq;
    },
    emit(event) {
      lastSeq += 1;
      const numbered = { seq: lastSeq, at: clock.now().toISOString(), event };
      events.push(numbered);
      if (events.length > kept) events.shift();
      for (const listener of listeners) listener(numbered);
    },
    since(seq) {
      const oldest = events[0]?.seq ?? lastSeq + 1;
      if (seq > lastSeq || seq < oldest - 1) return seq === lastSeq ? [] : null;
      return events.filter((event) => event.seq > seq);
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
