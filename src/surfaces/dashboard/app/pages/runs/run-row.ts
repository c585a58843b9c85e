import type { RunKind, RunOrigin, TraceSummary } from '../../../shared/api-types.ts';
import { shownLine } from '../../format.ts';
import { isOperation } from './calls.ts';
import type { FollowedRun } from './live-runs.ts';

/** A line of the list: a run that is over, or one that is followed. */
export interface RunRow {
  /** The same before and after a run ends. */
  readonly key: string;
  /** What its address has: the trace once there is one. */
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

/** What is followed and not among the traces yet, then the traces. */
export function rowsOfRuns(traces: readonly TraceSummary[], followed: readonly FollowedRun[]): RunRow[] {
  const stored = new Set(traces.map(({ id }) => id));
  const fresh = followed.filter(({ end }) => !end || (end.traceId !== null && !stored.has(end.traceId)));
  const rows = [...fresh.map(rowOfFollowed), ...traces.map(rowOfTrace)];
  // A run that waited in between has several traces: counted from the first, so that a later one renames none.
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

/** A run that stopped for a person has not failed. */
export function statusOf(
  trace: Pick<TraceSummary, 'success' | 'error_type' | 'error_message' | 'task_results'>,
): 'success' | 'error' | 'approval_required' {
  if (trace.success) return 'success';
  const waits = (task: unknown) =>
    ['approval_required', 'waiting', 'unknown'].includes(String((task as { status?: unknown }).status));
  const isSilent = trace.error_message === null && trace.error_type === 'PERMISSION';
  return trace.task_results.some(waits) || isSilent ? 'approval_required' : 'error';
}

/** Of runs that nobody asked for as they are: what PML did there, and why. */
export const STARTED_BY_PML = {
  self: { did: 'chosen by PML', why: 'PML chose this plan for the intent' },
  replay: { did: 'checked by PML', why: 'to check whether it can become a capability' },
} as const;

/** What was wanted, else what was called first. */
export function titleOf(intent: string | null, path: readonly string[]): string {
  const [called] = calledOf(path);
  return shownLine(intent ?? '', 140) || (called ? nameOf(called) : 'A run without calls');
}

/** A node as people read it; ids of capabilities say nothing. */
export function nameOf(node: string): string {
  if (node.startsWith('capability:')) return 'capability';
  return shownLine(node, 90);
}

/** Without the steps of a program's own, which are many and quick; they are all there is where it calls nothing else. */
export function calledOf(path: readonly string[]): readonly string[] {
  const called = path.filter((node) => !isOperation(node));
  return called.length > 0 ? called : path;
}

/** The calls of a path in their order, repeats in a row as one. */
export function stepsOf(path: readonly string[]): { node: string; count: number }[] {
  const steps: { node: string; count: number }[] = [];
  for (const node of path) {
    const last = steps.at(-1);
    if (last?.node === node) last.count += 1;
    else steps.push({ node, count: 1 });
  }
  return steps;
}
