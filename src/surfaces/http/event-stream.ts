import type { EventLog, NumberedEvent } from '../../engine/traces/event-log.ts';

const DEFAULTS = {
  /** Milliseconds of silence before a heartbeat: proxies and sleeping laptops close quiet connections. */
  heartbeatMs: 15_000,
  /** Events a reader may lag behind before it is disconnected; it can reconnect and catch up. */
  maxBehind: 1_000,
  mayHear: () => true,
};

/** One message of `text/event-stream`. */
export interface StreamMessage {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

export interface EventStreamOptions {
  /** Identifies this gateway process: each starts numbering at 1. */
  readonly life: string;
  /** The last id the reader saw; undefined for a new reader. */
  readonly after: string | undefined;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** The reader does not keep up: its connection should be closed. */
  onSlow(): void;
  /** Whether the reader may see the event; by default all. */
  readonly mayHear?: (event: NumberedEvent) => boolean;
  readonly heartbeatMs?: number;
  readonly maxBehind?: number;
}

/**
 * Events from where the reader left off, then live ones. The bounded log is the only buffer: the next event
 * is read only after the reader has taken the previous one.
 */
export async function* followEvents(
  log: EventLog,
  options: EventStreamOptions,
): AsyncGenerator<StreamMessage> {
  const { life, signal, onSlow, heartbeatMs, maxBehind, mayHear } = { ...DEFAULTS, ...options };
  const idOf = (seq: number) => `${life}.${seq}`;
  const asked = seqOf(options.after, life);
  const isKnown = asked !== null && log.since(asked) !== null;
  let seq = isKnown ? asked : log.lastSeq;
  // A reader that reconnects has events to catch up on.
  const allowance = maxBehind + log.lastSeq - seq;
  const alarm = createAlarm(signal);
  const unfollow = log.follow((event) => {
    if (event.seq - seq > allowance) onSlow();
    alarm.ring();
  });
  try {
    if (!isKnown) {
      // `reset`: the missed events are no longer in the log, so take a new snapshot.
      const event = options.after === undefined ? 'hello' : 'reset';
      yield { event, id: idOf(seq), data: JSON.stringify({ last_event_id: idOf(seq) }) };
    }
    while (!signal.aborted) {
      const events = log.since(seq);
      if (events === null) return onSlow();
      for (const event of events) {
        if (mayHear(event)) yield toMessage(event, idOf(event.seq));
        seq = event.seq;
        if (signal.aborted) return;
      }
      if (seq === log.lastSeq && !(await alarm.wait(heartbeatMs))) yield { event: 'heartbeat', data: '{}' };
    }
  } finally {
    unfollow();
  }
}

/** Null for no id, or one of another gateway process. */
function seqOf(id: string | undefined, life: string): number | null {
  const [before, seq] = id?.split('.') ?? [];
  return before === life && seq !== undefined && /^\d+$/.test(seq) ? Number(seq) : null;
}

function toMessage({ at, event }: NumberedEvent, id: string): StreamMessage {
  return { event: event.type, id, data: JSON.stringify({ at, ...event }) };
}

/** Waits for a ring, the end, or a timeout (false). A ring before the wait counts. */
function createAlarm(signal: AbortSignal) {
  let hasRung = false;
  let wake = () => {};
  const ring = () => {
    hasRung = true;
    wake();
  };
  signal.addEventListener('abort', ring, { once: true });
  return {
    ring,
    async wait(ms: number): Promise<boolean> {
      let timer: NodeJS.Timeout | undefined;
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, ms);
        });
      }
      clearTimeout(timer);
      const rung = hasRung;
      hasRung = false;
      return rung;
    },
  };
}
