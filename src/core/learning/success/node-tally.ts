import { callSpans } from '../../tracing/derive-trace.ts';
import type { ExecutionTrace } from '../../vocabulary/execution-trace.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import { ERROR_TYPES, type ErrorType } from '../../vocabulary/trace-event.ts';

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

/** How often something was tried, and how often it went well. */
export interface Rate {
  tried: number;
  succeeded: number;
}

/** What one node has to do with another that was there before or beside it. */
export interface Companion {
  /** Runs of the node in which the other was used too, or shortly before in its session. */
  together: number;
  /** Those of them in which the other came first, and how the node did. */
  readonly after: Rate;
}

/** The run that a node was used in. */
export interface RunAround {
  readonly at: number;
  readonly success: boolean;
  /** Of the executed path. */
  readonly length: number;
  /** How calls had failed before the node's last one, in this run or in the one before in its session. */
  readonly errorsBefore: ReadonlySet<ErrorType>;
}

/** Sums over all runs of one node. Sums only: the same whatever was asked in between. */
export class NodeTally {
  readonly runs: Rate = { tried: 0, succeeded: 0 };
  /** Runs that knew how long the node's calls took, by their calls. */
  readonly timed = { calls: 0, durationMs: 0 };
  /** Sum of first / (length - 1). */
  positions = 0;
  /** Milliseconds since 1970. */
  lastUsedAt = Number.NEGATIVE_INFINITY;
  readonly afterFailure: Rate = { tried: 0, succeeded: 0 };
  readonly afterError: Readonly<Record<ErrorType, Rate>> = rateByError();
  /** Over runs that succeeded: steps from the node's first call to the end, itself included. */
  readonly stepsToSuccess = { runs: 0, sum: 0, squares: 0 };
  readonly companions = new Map<NodeId, Companion>();

  add({ first, calls, success, durationMs }: NodeRun, around: RunAround): void {
    count(this.runs, success);
    this.positions += around.length > 1 ? first / (around.length - 1) : 0.5;
    this.lastUsedAt = Math.max(this.lastUsedAt, around.at);
    if (durationMs !== null) {
      this.timed.calls += calls;
      this.timed.durationMs += durationMs;
    }
    if (around.errorsBefore.size > 0) count(this.afterFailure, success);
    for (const type of around.errorsBefore) count(this.afterError[type], success);
    if (around.success) {
      const steps = around.length - first;
      this.stepsToSuccess.runs++;
      this.stepsToSuccess.sum += steps;
      this.stepsToSuccess.squares += steps * steps;
    }
  }

  meet(other: NodeId, isBefore: boolean, success: boolean): void {
    let companion = this.companions.get(other);
    if (!companion) {
      companion = { together: 0, after: { tried: 0, succeeded: 0 } };
      this.companions.set(other, companion);
    }
    companion.together++;
    if (isBefore) count(companion.after, success);
  }
}

function count(rate: Rate, success: boolean): void {
  rate.tried++;
  if (success) rate.succeeded++;
}

function rateByError(): Record<ErrorType, Rate> {
  return Object.fromEntries(ERROR_TYPES.map((type) => [type, { tried: 0, succeeded: 0 }])) as Record<
    ErrorType,
    Rate
  >;
}
