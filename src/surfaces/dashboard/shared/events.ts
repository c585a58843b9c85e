import type { RunOrigin } from '../../../core/vocabulary/execution-trace.ts';
import type { ErrorShape } from '../../../core/vocabulary/pml-error.ts';
import type { WireTraceEvent } from '../../../core/vocabulary/trace-event.ts';
import type { ServerState } from './api-types.ts';

/** The gateway's events by name; it also sends `hello`, `reset` and `heartbeat`. */
interface EventData {
  readonly server_state: { server: string; state: ServerState; error: ErrorShape | null };
  readonly catalogue_changed: {
    server: string;
    added: readonly string[];
    removed: readonly string[];
    changed: readonly string[];
  };
  readonly tools_embedded: { embedded: number; by_meaning: number; tools: number };
  readonly run_started: {
    run_id: string;
    session_id: string | null;
    origin: RunOrigin;
    intent: string | null;
  };
  readonly trace_event: { run_id: string; event: WireTraceEvent };
  readonly run_finished: { run_id: string; trace_id: string | null; status: string; duration_ms: number };
  readonly task_changed: { run_id: string; task_id: string; status: string };
  readonly approval_requested: { approval_id: string; run_id: string; node: string; reason: string };
  readonly approval_settled: { approval_id: string; run_id: string; state: string; by: string };
  readonly capability_changed: {
    capability_id: string;
    slug: string;
    state: 'candidate' | 'active' | 'quarantined' | 'forgotten';
  };
  readonly drift_changed: { tool: string; state: 'begun' | 'ended'; changes: readonly string[] };
  readonly alerts_changed: { counts: Readonly<Record<string, number>> };
  readonly graph_changed: { edges: number; traces: number };
  readonly gate_changed: { open: boolean; gain: number; ci95: readonly number[]; n: number };
  readonly run_learned: { runs: number };
  readonly training_progress: { stage: string; done: number; total: number; loss?: number };
  readonly training_stopped: object;
  readonly ranker_trained: { runs: number; loss: number; seconds: number };
  readonly inventory_changed: { inventory: string };
  readonly key_changed: { key_id: string; state: 'created' | 'changed' | 'revoked' };
  readonly config_reloaded: { file: string; servers: readonly string[] };
  readonly config_error: { error: ErrorShape };
}

export type EventType = keyof EventData;

/** `at` is the time of the event. */
export type LiveEvent = {
  [T in EventType]: { readonly type: T; readonly at: string } & Readonly<EventData[T]>;
}[EventType];

/** Streams are subscribed by name, so every name is listed here. */
export const EVENT_TYPES = Object.keys({
  server_state: 0,
  catalogue_changed: 0,
  tools_embedded: 0,
  run_started: 0,
  trace_event: 0,
  run_finished: 0,
  task_changed: 0,
  approval_requested: 0,
  approval_settled: 0,
  capability_changed: 0,
  drift_changed: 0,
  alerts_changed: 0,
  graph_changed: 0,
  gate_changed: 0,
  run_learned: 0,
  training_progress: 0,
  training_stopped: 0,
  ranker_trained: 0,
  inventory_changed: 0,
  key_changed: 0,
  config_reloaded: 0,
  config_error: 0,
} satisfies Record<EventType, 0>) as readonly EventType[];
