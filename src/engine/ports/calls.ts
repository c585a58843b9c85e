import type { ErrorType } from '../../core/vocabulary/trace-event.ts';

/** Every field that is given has to match. */
export interface CallFilter {
  /** The id of the tool. */
  readonly tool?: string;
  readonly server?: string;
  readonly success?: boolean;
  readonly errorType?: ErrorType;
  /** Part of the error's text, whether written large or small. */
  readonly text?: string;
  /** Whose run made it. */
  readonly owner?: string;
  readonly runId?: string;
  readonly sessionId?: string;
  /** A person was asked about a call of this tool in this run. */
  readonly asked?: boolean;
  /** The run began at or after it. */
  readonly since?: Date;
  readonly until?: Date;
  /** Took at least so many milliseconds. */
  readonly minMs?: number;
  /** Arguments and answer are at least so many bytes. */
  readonly minBytes?: number;
  /** Only those of runs that are shared, or this user's own. */
  readonly visibleTo?: string;
}

/** A call of a tool, wherever it was made: alone, in a program, a capability or a workflow. */
export interface StoredCall {
  /** As the events of the trace name it. */
  readonly id: string;
  readonly tool: string;
  readonly traceId: string;
  readonly runId: string;
  readonly sessionId: string | null;
  readonly intentText: string | null;
  readonly owner: string | null;
  readonly startedAt: Date;
  /** Null if it did not end. */
  readonly durationMs: number | null;
  readonly success: boolean;
  readonly errorType: ErrorType | null;
  /** The beginning of the message; null where there is none, or it is not recorded. */
  readonly error: string | null;
  /** Bytes of JSON, as recorded; null where they are not. */
  readonly sent: number | null;
  readonly received: number | null;
  /** What a person decided about the last call of this tool in this run that was asked about. */
  readonly approval: {
    readonly state: 'pending' | 'approved' | 'rejected' | 'used';
    readonly settledBy: string | null;
  } | null;
}

export interface CallPage {
  /** Newest run first, and its last call first. */
  readonly calls: readonly StoredCall[];
  /** Continues behind them, also where nothing matched so far; null at the end. */
  readonly next: string | null;
}

export interface CallGroup {
  /** A tool, or a type of error; null for calls that did not fail. */
  readonly key: string | null;
  readonly calls: number;
  readonly failed: number;
  /** Milliseconds: the usual call, and one in twenty takes longer. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  /** All arguments and answers together, as far as they are recorded. */
  readonly bytes: number;
  readonly newest: Date;
}

export interface CallGroups {
  /** Most calls first. */
  readonly groups: readonly CallGroup[];
  /** Older calls were not counted; null: all were. */
  readonly since: Date | null;
}

/** What the store derives from the events of traces: it comes and goes with them. */
export interface CallStore {
  /** A page costs the same however many calls there are: one that few calls match may have to be continued. */
  list(filter: CallFilter, limit: number, after?: string): Promise<CallPage>;
  /** Of the newest calls, as many as one look may cost. */
  group(filter: CallFilter, by: 'tool' | 'error'): Promise<CallGroups>;
}
