import { type TreeRow, traceTree } from '../../core/tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import { type CapabilityNodeId, capabilityUuid, kindOf } from '../../core/vocabulary/ids.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Store } from '../ports.ts';

export type { TreeRow } from '../../core/tracing/derive-trace.ts';

export interface ReadTrace {
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
  if (!trace) throw new PmlError('not_found', `There is no trace ${id}`, { hint: 'See "pml trace ls".' });
  const names = new Map<string, string>();
  for (const node of new Set(trace.executedPath)) {
    if (kindOf(node) !== 'capability') continue;
    const capability = await capabilities.get(capabilityUuid(node as CapabilityNodeId));
    if (capability) names.set(node, `capabilities.${capability.slug}`);
  }
  return { trace, tree: traceTree(trace.events), nameOf: (node) => names.get(node) ?? node };
}
