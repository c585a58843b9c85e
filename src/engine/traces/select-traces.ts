import { matchesGlob } from '../../core/policy/decide.ts';
import { type TreeRow, traceTree } from '../../core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { fromWire, type WireTraceEvent } from '../../core/vocabulary/trace-event.ts';
import type { Store } from '../ports.ts';

/** How many traces are read at once: each may have megabytes of events. */
const DEFAULTS = { page: 25 };

/** Traces that match all of these. */
export interface TraceSelection {
  readonly sessionId?: string;
  /** Executed at or after it. */
  readonly since?: Date;
  /** Executed before it. */
  readonly before?: Date;
  /** Glob on the ids of what was called. */
  readonly tool?: string;
  /** The newest of them. */
  readonly limit?: number;
}

/** In the order they were stored, oldest first, a page at a time. */
export async function* selectTraces(
  { traces }: Pick<Store, 'traces'>,
  selection: TraceSelection,
): AsyncGenerator<ExecutionTrace> {
  if (selection.limit !== undefined) {
    yield* readTraces({ traces }, (await newest(traces, selection, selection.limit)).reverse());
    return;
  }
  for (let cursor: number | null = 0; cursor !== null; ) {
    const page: TracePage = await tracePage({ traces }, selection, cursor);
    yield* page.traces;
    cursor = page.next;
  }
}

/** Those that exist, in this order. */
export async function* readTraces(
  { traces }: Pick<Store, 'traces'>,
  ids: readonly string[],
): AsyncGenerator<ExecutionTrace> {
  for (const id of ids) {
    const trace = await traces.get(id);
    if (trace) yield trace;
  }
}

interface TracePage {
  readonly traces: readonly ExecutionTrace[];
  /** Where the next page begins; null after the last one. */
  readonly next: number | null;
}

/** The matching traces among those stored next after a cursor; 0 is the start. */
export async function tracePage(
  { traces }: Pick<Store, 'traces'>,
  selection: TraceSelection,
  cursor: number,
): Promise<TracePage> {
  const page = await traces.scan(cursor, DEFAULTS.page);
  const selected = page.traces.filter((trace) => isSelected(trace, selection));
  return { traces: selected, next: page.traces.length === 0 ? null : page.cursor };
}

/** Only the ids, so that any number fits in memory. */
async function newest(traces: Store['traces'], selection: TraceSelection, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await traces.list({
      limit: DEFAULTS.page,
      ...(selection.sessionId !== undefined && { sessionId: selection.sessionId }),
      ...(before !== undefined && { before }),
    });
    for (const trace of page) {
      if (isSelected(trace, selection)) ids.push(trace.id);
      if (ids.length === limit) return ids;
    }
    before = page.at(-1)?.id;
    if (before === undefined) return ids;
  }
}

function isSelected(trace: ExecutionTrace, { sessionId, since, before, tool }: TraceSelection): boolean {
  return (
    (sessionId === undefined || trace.sessionId === sessionId) &&
    (since === undefined || trace.executedAt >= since) &&
    (before === undefined || trace.executedAt < before) &&
    (tool === undefined || trace.executedPath.some((node) => matchesGlob(tool, node)))
  );
}

export type { TreeRow } from '../../core/tracing/derive-trace.ts';

/** The calls of a trace as a tree, of its events as programs see them. */
export function treeOf(events: readonly WireTraceEvent[]): readonly TreeRow[] {
  return traceTree(events.map(fromWire));
}
