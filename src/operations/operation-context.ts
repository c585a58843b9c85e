import type { RunOrigin } from '../core/vocabulary/execution-trace.ts';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Principal } from '../core/vocabulary/principal.ts';
import type { WireTraceEvent } from '../core/vocabulary/trace-event.ts';
import type { Caller, Gateway } from '../engine/gateway.ts';
import type { EventLog, NumberedEvent } from '../engine/traces/event-log.ts';

const DEFAULTS = {
  /** Events of one run that a snapshot has; the rest is in its trace when it ends. */
  eventsPerRun: 2_000,
};

/** The browsers that are logged in. */
export interface LoginList {
  /** Oldest first; times are milliseconds since 1970. */
  list(): Promise<
    readonly {
      readonly id: string;
      readonly keyId: string | null;
      readonly about: string;
      readonly madeAt: number;
      readonly expiresAt: number;
    }[]
  >;
  /** False when there is none of this id. */
  revoke(id: string): Promise<boolean>;
}

/** What operations work with. */
export interface OperationContext {
  readonly gateway: Gateway;
  /** Tells this life of the gateway from others: event numbers start over with each. */
  readonly life: string;
  /** Where to follow the events from after a snapshot. */
  lastEventId(): string;
  /** Runs under way, by run id. */
  liveRuns(): ReadonlyMap<string, LiveRun>;
  /** Absent without a listener, and so without a browser. */
  readonly logins?: LoginList;
}

export interface LiveRun extends Pick<NumberedEvent, 'ownership'> {
  readonly run_id: string;
  readonly session_id: string | null;
  readonly origin: RunOrigin;
  readonly intent: string | null;
  readonly started_at: string;
  readonly events: (WireTraceEvent & { readonly at: string })[];
}

/** One for all surfaces of a process. */
export function operationContext(gateway: Gateway, life: string): OperationContext {
  let live: ReadonlyMap<string, LiveRun> | undefined;
  return {
    gateway,
    life,
    lastEventId: () => `${life}.${gateway.events.lastSeq}`,
    liveRuns() {
      live ??= trackRuns(gateway.events);
      return live;
    },
  };
}

function trackRuns(log: EventLog): ReadonlyMap<string, LiveRun> {
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

/** Who asks, as far as rights go: a command of the data dir's owner comes without a key. */
export function askerOf({ who }: Caller): Principal {
  return who ?? { name: 'owner', user: 'owner', role: 'owner', keyId: null };
}

/** For the record of decisions: whose key it was, else a browser that was logged in or a program with the token. */
export function deciderOf({ who, isAtTerminal }: Caller): string {
  if (!who) return 'owner';
  if (who.keyId !== null || isAtTerminal) return who.name;
  return who.loginId === undefined ? 'api' : 'dashboard';
}

/** What one may not see does not exist. */
export function notFound(what: string, id: string, hint: string): PmlError {
  return new PmlError('not_found', `${what} ${id} not found`, { hint });
}
