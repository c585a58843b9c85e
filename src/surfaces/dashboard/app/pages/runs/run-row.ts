import type { RunKind, RunOrigin, TraceSummary } from '../../../shared/api-types.ts';
import { shownLine } from '../../format.ts';
import { isOperation } from './calls.ts';
import type { FollowedRun } from './live-runs.ts';

/** A row of the list: a finished run, or a live one. */
export interface RunRow {
  /** Stays the same when the run ends. */
  readonly key: string;
  /** The id in its address: that of the trace, once there is one. */
  readonly id: string;
  readonly traceId: string | null;
  readonly title: string;
  readonly status: string;
  readonly kind: RunKind | null;
  readonly path: readonly string[];
  readonly startedAt: string;
  readonly durationMs: number | null;
  readonly sessionId: string | null;
  readonly origin: RunOrigin;
  readonly error: string | null;
}

/** Live runs without a trace, then the traces. */
export function rowsOfRuns(traces: readonly TraceSummary[], followed: readonly FollowedRun[]): RunRow[] {
  const stored = new Set(traces.map(({ id }) => id));
  const fresh = followed.filter(({ end }) => !end || (end.traceId !== null && !stored.has(end.traceId)));
  const rows = [...fresh.map(rowOfFollowed), ...traces.map(rowOfTrace)];
  // A run that waited has several traces: numbered from the first, so that keys stay stable.
  const times = new Map<string, number>();
  return rows
    .toReversed()
    .map((row) => {
      const nth = times.get(row.key) ?? 0;
      times.set(row.key, nth + 1);
      return nth === 0 ? row : { ...row, key: `${row.key} ${nth}` };
    })
    .toReversed();
}

export function rowOfTrace(trace: TraceSummary): RunRow {
  return {
    key: trace.run_id,
    id: trace.id,
    traceId: trace.id,
    title: titleOf(trace.intent_text, trace.executed_path),
    status: statusOf(trace),
    kind: trace.kind,
    path: trace.executed_path,
    startedAt: trace.executed_at,
    durationMs: trace.duration_ms,
    sessionId: trace.session_id,
    origin: trace.origin,
    error: trace.error_message,
  };
}

function rowOfFollowed(run: FollowedRun): RunRow {
  const { run_id, intent, events, started_at, session_id, origin, end } = run;
  const path = events.filter(({ type }) => type.endsWith('_start')).map(({ node }) => node);
  return {
    key: run_id,
    id: end?.traceId ?? run_id,
    traceId: end?.traceId ?? null,
    title: titleOf(intent, path),
    status: end?.status ?? 'running',
    kind: null,
    path,
    startedAt: started_at,
    durationMs: end?.durationMs ?? null,
    sessionId: session_id,
    origin,
    error: null,
  };
}

/** A run that stopped for approval has not failed. */
export function statusOf(
  trace: Pick<TraceSummary, 'success' | 'error_type' | 'error_message' | 'task_results'>,
): 'success' | 'error' | 'approval_required' {
  if (trace.success) return 'success';
  const waits = (task: unknown) =>
    ['approval_required', 'waiting', 'unknown'].includes(String((task as { status?: unknown }).status));
  const isSilent = trace.error_message === null && trace.error_type === 'PERMISSION';
  return trace.task_results.some(waits) || isSilent ? 'approval_required' : 'error';
}

/** For runs that PML started itself: what it did, and why. */
export const STARTED_BY_PML = {
  self: { did: 'chosen by PML', why: 'PML chose this plan for the intent' },
  replay: { did: 'checked by PML', why: 'to check whether it works again' },
  fork: { did: 'forked', why: 'it continues from a step of another run' },
} as const;

/** The intent, or else the first call. */
export function titleOf(intent: string | null, path: readonly string[]): string {
  const [called] = calledOf(path);
  return shownLine(intent ?? '', 140) || (called ? nameOf(called) : 'A run without calls');
}

/** A readable name of a node; ids of capabilities are not. */
export function nameOf(node: string): string {
  return node.startsWith('capability:') ? 'capability' : shownLine(node, 90);
}

/** Without the program's own operations, which are many and fast, unless it calls nothing else. */
export function calledOf(path: readonly string[]): readonly string[] {
  const called = path.filter((node) => !isOperation(node));
  return called.length > 0 ? called : path;
}
