import { matchesGlob } from '../../core/policy/decide.ts';
import { type TreeRow, traceTree } from '../../core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { type CapabilityNodeId, capabilityUuid, kindOf } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Store } from '../ports.ts';

/** Traces read at once: each may have megabytes of events. */
const DEFAULTS = { page: 25 };

/** Traces that are all of this. */
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
    for (const id of (await newest(traces, selection, selection.limit)).reverse()) {
      const trace = await traces.get(id);
      if (trace) yield trace;
    }
    return;
  }
  for (let cursor = 0; ; ) {
    const page = await traces.scan(cursor, DEFAULTS.page);
    if (page.traces.length === 0) return;
    yield* page.traces.filter((trace) => isSelected(trace, selection));
    cursor = page.cursor;
  }
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

interface ReadTrace {
  readonly trace: ExecutionTrace;
  readonly tree: readonly TreeRow[];
  /** What people call a node: a capability's slug, else its id. */
  readonly nameOf: (node: string) => string;
}

/** A trace, its calls as a tree, and the names of the capabilities in it. */
export async function readTrace(
  { traces, capabilities }: Pick<Store, 'traces' | 'capabilities'>,
  id: string,
): Promise<ReadTrace> {
  const trace = await traces.get(id);
  if (!trace) throw new PmlError('not_found', `Trace ${id} not found`, { hint: 'See "pml trace ls".' });
  const names = new Map<string, string>();
  for (const node of new Set(trace.executedPath)) {
    if (kindOf(node) !== 'capability') continue;
    const capability = await capabilities.get(capabilityUuid(node as CapabilityNodeId));
    if (capability) names.set(node, `capabilities.${capability.slug}`);
  }
  return { trace, tree: traceTree(trace.events), nameOf: (node) => names.get(node) ?? node };
}
