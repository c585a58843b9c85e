import { callSpans } from '../../tracing/call-spans.ts';
import type { ExecutionTrace } from '../../vocabulary/execution-trace.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import type { ErrorType } from '../../vocabulary/trace-event.ts';

/** All that one run tells of one node: a tool, a capability or an operation. */
export interface NodeRun {
  readonly node: NodeId;
  /** Place of its first call in the executed path. */
  readonly first: number;
  readonly calls: number;
  /** Of its last call, so that a retry which worked counts; of the run where calls are not told. */
  readonly success: boolean;
  /** Of all its calls together; null where they are not told. */
  readonly durationMs: number | null;
  /** How calls had failed, its own too, before its last one began. */
  readonly errorsBefore: readonly ErrorType[];
}

interface Step {
  readonly node: NodeId;
  readonly success: boolean;
  readonly startTs: number;
  readonly durationMs: number | null;
}

export interface RunNodes {
  /** Of the executed path. */
  readonly length: number;
  /** In order of first use. */
  readonly nodes: readonly NodeRun[];
}

export function nodeRuns(trace: ExecutionTrace): RunNodes {
  const { steps, failedAt } = readSteps(trace);
  const byNode = Map.groupBy(steps.entries(), ([, { node }]) => node);
  const nodes = Array.from(byNode, ([node, calls]) => {
    const last = calls.at(-1)![1];
    return {
      node,
      first: calls[0]![0],
      calls: calls.length,
      success: last.success,
      durationMs:
        last.durationMs === null ? null : calls.reduce((sum, [, call]) => sum + call.durationMs!, 0),
      errorsBefore: [...failedAt].flatMap(([type, ts]) => (ts <= last.startTs ? type : [])),
    };
  });
  return { length: steps.length, nodes };
}

/** The executed path with what is known of each call, and for each kind of error the first moment it was met. */
function readSteps(trace: ExecutionTrace): { steps: Step[]; failedAt: Map<ErrorType, number> } {
  const failedAt = new Map<ErrorType, number>();
  if (trace.events.length === 0) {
    const { success } = trace;
    const steps = trace.executedPath.map((node) => ({ node, success, startTs: 0, durationMs: null }));
    return { steps, failedAt };
  }
  const steps = callSpans(trace.events).map(({ start, end, startTs, endTs }) => {
    if (end && !end.success) {
      const type = end.errorType ?? 'UNKNOWN';
      failedAt.set(type, Math.min(endTs, failedAt.get(type) ?? Number.POSITIVE_INFINITY));
    }
    return { node: start.node, success: end?.success ?? false, startTs, durationMs: endTs - startTs };
  });
  return { steps, failedAt };
}
