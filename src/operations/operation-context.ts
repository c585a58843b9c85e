import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { Principal } from '../core/vocabulary/principal.ts';
import type { Caller, Gateway } from '../engine/gateway.ts';
import type { UpstreamReply } from '../engine/ports.ts';
import { type LiveRun, trackRuns } from '../engine/traces/event-log.ts';

/** The logged-in browsers. */
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
  /** Returns false if the id is unknown. */
  revoke(id: string): Promise<boolean>;
}

/** What only the process that holds the data folder can do. */
export interface DataHolder {
  /** For the user of this key; absent: for the owner. */
  createLoginLink(key?: string): Promise<string>;
  /** Writes the whole store to one file. */
  backUp(file: string): Promise<{
    readonly file: string;
    readonly madeAt: string;
    readonly sha256: string;
    readonly tables: readonly { readonly table: string; readonly rows: number; readonly sha256: string }[];
  }>;
  /** Null when nobody makes a backup. */
  backupProgress(): { readonly table: string; readonly rows: number } | null;
  /** Releases the data folder, after the reply. */
  handOver(): void;
}

/** What models have read of answers since the process started; the surface that answers them counts. */
export interface ReadingTotals {
  sessions: number;
  characters: number;
  /** How many of these characters a client of the servers themselves would have read, too. */
  direct: number;
}

/** Context of all operations. */
export interface OperationContext {
  readonly gateway: Gateway;
  /** Identifies this gateway process: each starts numbering events at 1. */
  readonly life: string;
  /** The event id to continue from after a snapshot. */
  lastEventId(): string;
  readonly reading: ReadingTotals;
  /** Runs in progress, by run id. */
  liveRuns(): ReadonlyMap<string, LiveRun>;
  /** Absent if the process does not serve browsers. */
  readonly logins?: LoginList;
  /** Absent in tests. */
  readonly holder?: DataHolder;
  /** By server and user: completes a started login with the address of the redirect. */
  readonly serverLogins: Map<string, (callbackUrl: string) => Promise<UpstreamReply<null>>>;
}

/** One context for all surfaces of a process. */
export function operationContext(gateway: Gateway, life: string): OperationContext {
  let live: ReadonlyMap<string, LiveRun> | undefined;
  return {
    gateway,
    life,
    serverLogins: new Map(),
    reading: { sessions: 0, characters: 0, direct: 0 },
    lastEventId: () => `${life}.${gateway.events.lastSeq}`,
    liveRuns() {
      live ??= trackRuns(gateway.events);
      return live;
    },
  };
}

/** The caller as a principal: a command of the data folder's owner has no key. */
export function askerOf({ who }: Caller): Principal {
  return who ?? { name: 'owner', user: 'owner', role: 'owner', keyId: null };
}

/** For the audit log: the user at the terminal, the key, or else a browser or a program with the token. */
export function deciderOf({ who, terminalUser = 'owner' }: Caller): string {
  if (!who) return terminalUser;
  if (who.keyId !== null) return who.name;
  return who.loginId === undefined ? 'api' : 'dashboard';
}

/** Also used for objects the caller may not see. */
export function notFound(what: string, id: string, hint: string): PmlError {
  return new PmlError('not_found', `${what} ${id} not found`, { hint });
}

/** In the engine, a server's failure is data; in an operation it is thrown. */
export function valueFrom<T>(reply: UpstreamReply<T>): T {
  if (reply.ok) return reply.value;
  const { code, message, hint } = reply.error;
  throw new PmlError(code, message, hint === undefined ? {} : { hint });
}

export function holderOf({ holder }: OperationContext): DataHolder {
  if (holder) return holder;
  throw new PmlError('not_found', 'This process does not hold a data folder');
}
