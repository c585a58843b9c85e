import type { ExecutionTrace } from '../../core/vocabulary/execution-trace.ts';
import type { FlowPorts } from '../flow-ports.ts';
import type { EpisodicEvent } from '../ports.ts';
import type { TaskResult } from '../workflow/run-driver.ts';

const DEFAULTS = {
  /** Calls of one run that become episodes; the trace has them all. */
  perRun: 500,
};

type Completion = Pick<EpisodicEvent, 'taskId' | 'timestamp' | 'data'>;

/** Each task of a workflow, and each call of a program, as a `task_complete` of its own. */
export async function recordEpisodes(
  { store, crypto }: Pick<FlowPorts, 'store' | 'crypto'>,
  trace: ExecutionTrace,
): Promise<void> {
  const completions = trace.code === null ? completedTasks(trace) : completedCalls(trace);
  if (completions.length === 0) return;
  await store.episodes.append(
    completions.slice(0, DEFAULTS.perRun).map((completion) => ({
      ...completion,
      id: crypto.randomUuid(),
      workflowId: trace.runId,
      eventType: 'task_complete',
    })),
  );
}

function completedCalls({ executedAt, toolInvocations }: ExecutionTrace): Completion[] {
  return toolInvocations.map(({ id, tool, ts, durationMs, success }) => ({
    taskId: id,
    timestamp: new Date(executedAt.getTime() + ts + durationMs),
    data: { tool, success, duration_ms: durationMs },
  }));
}

/** Those that came to their end in this trace. */
function completedTasks({ executedAt, taskResults }: ExecutionTrace): Completion[] {
  return (taskResults as readonly Partial<TaskResult>[]).flatMap((task) => {
    const { id, node, status, earlier, at, duration_ms } = task ?? {};
    const isOver = (status === 'success' || status === 'error') && !earlier;
    if (id === undefined || node === undefined || !isOver) return [];
    const timestamp = at === undefined ? executedAt : new Date(at);
    const data = { node, success: status === 'success', ...(duration_ms !== undefined && { duration_ms }) };
    return [{ taskId: id, timestamp, data }];
  });
}
