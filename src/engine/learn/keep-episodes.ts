import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { FlowPorts } from '../flow-ports.ts';

const DEFAULTS = {
  /** Calls of one run that become episodes; the trace has them all. */
  perRun: 500,
};

/** Each call of a run of several steps as a `task_complete` of its own, for whoever follows a workflow. */
export async function keepEpisodes(
  { store, crypto }: Pick<FlowPorts, 'store' | 'crypto'>,
  { code, runId, executedAt, toolInvocations }: ExecutionTrace,
): Promise<void> {
  if (code === null || toolInvocations.length === 0) return;
  await store.episodes.append(
    toolInvocations.slice(0, DEFAULTS.perRun).map((call) => ({
      id: crypto.randomUuid(),
      workflowId: runId,
      eventType: 'task_complete',
      taskId: call.id,
      timestamp: new Date(executedAt.getTime() + call.ts + call.durationMs),
      data: { tool: call.tool, success: call.success, duration_ms: call.durationMs },
    })),
  );
}
