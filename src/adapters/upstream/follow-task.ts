import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, UpstreamProgress } from '../../engine/ports.ts';
import { UpstreamFault } from './failure.ts';

const DEFAULTS = {
  /** Milliseconds between two looks at a task whose server suggests nothing, and the bounds of what it suggests. */
  pollMs: 500,
  minPollMs: 50,
  maxPollMs: 10_000,
  maxIdLength: 1_024,
};

export interface TaskExchange {
  readonly server: string;
  readonly signal: AbortSignal;
  send(method: string, params: JsonObject): Promise<JsonObject>;
  /** Without waiting for an answer, and even when `signal` has been aborted. */
  cancel(taskId: string): void;
  /** The task is under way. */
  touch(): void;
  onProgress?(progress: UpstreamProgress): void;
}

/**
 * Waits for the result of a task of revision 2025-11-25 (SEP-1686). The server answers `tasks/result` when the task has
 * ended, and sends its questions with that answer's stream; looking at the task meanwhile tells how far it is.
 */
export async function followTask(created: JsonObject, exchange: TaskExchange): Promise<JsonObject> {
  const { server, signal, send } = exchange;
  let task = readTask(server, created.task);
  const { taskId } = task;
  try {
    const result = send('tasks/result', { taskId });
    const over = result.then(
      () => true,
      () => true,
    );
    for (let looks = 1; ; looks++) {
      const pause = sleep(task.pollMs, false, { signal });
      if (await Promise.race([over, pause])) break;
      const before = task.statusMessage;
      task = readTask(server, await send('tasks/get', { taskId }));
      exchange.touch();
      const message = task.statusMessage;
      if (message !== undefined && message !== before) exchange.onProgress?.({ progress: looks, message });
    }
    return await result;
  } catch (error) {
    if (signal.aborted) exchange.cancel(taskId);
    throw error;
  }
}

interface TaskState {
  readonly taskId: string;
  readonly statusMessage?: string;
  readonly pollMs: number;
}

function readTask(server: string, sent: unknown): TaskState {
  const { taskId, statusMessage, pollInterval } = (sent ?? {}) as JsonObject;
  if (typeof taskId !== 'string' || taskId.length > DEFAULTS.maxIdLength) {
    throw new UpstreamFault({
      code: 'upstream_error',
      errorType: 'UNKNOWN',
      message: `Server "${server}" returned no valid task for a tool that runs as a task`,
    });
  }
  const asked = typeof pollInterval === 'number' ? pollInterval : DEFAULTS.pollMs;
  return {
    taskId,
    ...(typeof statusMessage === 'string' && { statusMessage }),
    pollMs: Math.min(DEFAULTS.maxPollMs, Math.max(DEFAULTS.minPollMs, asked)),
  };
}
