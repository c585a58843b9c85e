import type { ExecutionTrace, RunOrigin } from '../../core/vocabulary/execution-trace.ts';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { Visibility } from '../../core/vocabulary/principal.ts';
import type { WireTraceEvent } from '../../core/vocabulary/trace-event.ts';
import type { AlertKind } from './settings.ts';
import type { UpstreamState } from './upstream.ts';

/** What the services report to watchers; snake_case, as it goes over the wire. Redacted before it is emitted. */
export type GatewayEvent =
  | {
      readonly type: 'server_state';
      readonly server: string;
      readonly state: UpstreamState;
      readonly error: ErrorShape | null;
    }
  | {
      readonly type: 'catalogue_changed';
      readonly server: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
      /** Tools whose definition differs from the accepted one. */
      readonly changed: readonly string[];
    }
  | {
      readonly type: 'run_started';
      readonly run_id: string;
      readonly session_id: string | null;
      readonly origin: RunOrigin;
      readonly intent: string | null;
      readonly owner: string | null;
      readonly visibility: Visibility;
    }
  | { readonly type: 'trace_event'; readonly run_id: string; readonly event: WireTraceEvent }
  | {
      readonly type: 'run_finished';
      readonly run_id: string;
      readonly trace_id: string | null;
      readonly status: string;
      readonly duration_ms: number;
    }
  /** A task of a workflow, or an item of its list (`task[0]`), came into another state. */
  | {
      readonly type: 'task_changed';
      readonly run_id: string;
      readonly task_id: string;
      readonly status: string;
    }
  | {
      readonly type: 'approval_requested';
      readonly approval_id: string;
      readonly run_id: string;
      readonly node: string;
      readonly reason: string;
    }
  | {
      readonly type: 'approval_settled';
      readonly approval_id: string;
      readonly run_id: string;
      readonly state: string;
      readonly by: string;
    }
  | {
      readonly type: 'capability_changed';
      readonly capability_id: string;
      readonly slug: string;
      readonly state: 'candidate' | 'active' | 'quarantined' | 'forgotten';
      /** Absent: everybody's. */
      readonly owner?: string | null;
      readonly visibility?: Visibility;
    }
  /** The answers of a tool changed their shape, or no longer count as changed. What changed is in sentences. */
  | {
      readonly type: 'drift_changed';
      readonly tool: string;
      readonly state: 'begun' | 'ended';
      readonly changes: readonly string[];
    }
  /** How many alerts of each kind there are from now on. What they say is not for everybody who hears events. */
  | { readonly type: 'alerts_changed'; readonly counts: Readonly<Partial<Record<AlertKind, number>>> }
  /** So many definitions got a vector; of all tools in the catalogue, so many are found by meaning now. */
  | {
      readonly type: 'tools_embedded';
      readonly embedded: number;
      readonly by_meaning: number;
      readonly tools: number;
    }
  /** So many edges were seen for the first time or again. */
  | { readonly type: 'graph_changed'; readonly edges: number; readonly traces: number }
  /** The learned ranker serves from now on, or does not any more. */
  | {
      readonly type: 'gate_changed';
      readonly open: boolean;
      readonly gain: number;
      readonly ci95: readonly number[];
      readonly n: number;
    }
  /** One more run is looked back on; so many there are now. */
  | { readonly type: 'run_learned'; readonly runs: number }
  /** Some of the steps of a training. */
  | {
      readonly type: 'training_progress';
      readonly stage: string;
      readonly done: number;
      readonly total: number;
      readonly loss?: number;
    }
  /** It came to no end: somebody stopped it, or it failed. */
  | { readonly type: 'training_stopped' }
  | {
      readonly type: 'ranker_trained';
      readonly runs: number;
      readonly loss: number;
      readonly seconds: number;
    }
  /** What the tool descriptions say of servers and tools; told once at the start, too. */
  | { readonly type: 'inventory_changed'; readonly inventory: string }
  | {
      readonly type: 'key_changed';
      readonly key_id: string;
      readonly state: 'created' | 'changed' | 'revoked';
    }
  | { readonly type: 'config_reloaded'; readonly file: string; readonly servers: readonly string[] }
  | { readonly type: 'config_error'; readonly error: ErrorShape };

export interface EventSink {
  emit(event: GatewayEvent): void;
}

/** A request over HTTP; nothing of what it said. */
export interface ServedRequest {
  readonly method: string;
  /** As it was registered: `/api/traces/:id`. */
  readonly route: string;
  readonly status: number;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** Hands finished runs on to where the user watches all of their services. */
export interface TraceExporter {
  /** Takes the trace and answers at once; what becomes of it never fails a run. */
  export(trace: ExecutionTrace): void;
  /** The same of a request that was answered over HTTP. */
  exportRequest(request: ServedRequest): void;
  /** Sends what is still held back. */
  close(): Promise<void>;
}

/** Traces that are on disk and not in the store yet, oldest first. What is in it survives `kill -9`. */
export interface TraceJournal {
  /** Traces in it. */
  readonly size: number;
  /** False: it holds as much as it may. It takes what is added all the same: a run under way must not lose its trace. */
  readonly hasRoom: boolean;
  /** Is on disk when it returns. */
  add(trace: ExecutionTrace): void;
  /** The oldest, at most so many of them; some, if there are any. */
  oldest(limit: number): ExecutionTrace[];
  /** The oldest so many are in the store by now. */
  confirm(count: number): void;
  close(): void;
}
