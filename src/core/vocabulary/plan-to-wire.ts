import type { Plan, Task } from './plan.ts';

/** A plan as programs and people read it, and as `planFromWire` takes it back: snake_case. */
export function planToWire({ tasks, notKept: _, ...head }: Plan) {
  return { ...head, tasks: tasks.map(taskToWire) };
}

function taskToWire({ dependsOn, timeoutMs, forEach, retry, ...task }: Task) {
  return {
    ...task,
    depends_on: dependsOn,
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
    ...(forEach !== undefined && { for_each: forEach }),
    ...(retry && { retry: { attempts: retry.attempts, delay_ms: retry.delayMs } }),
  };
}
