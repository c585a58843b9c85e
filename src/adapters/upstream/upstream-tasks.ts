import { setTimeout as sleep } from 'node:timers/promises';
import { type JSONRPCMessage, ProtocolError, type Transport } from '@modelcontextprotocol/client';
import type { JsonObject, UpstreamClient, UpstreamProgress } from '../../engine/ports.ts';
import { UpstreamFault } from './failure.ts';

const DEFAULTS = {
  /** Milliseconds between two looks at a task whose server suggests nothing, and the bounds of what it suggests. */
  pollMs: 500,
  minPollMs: 50,
  maxPollMs: 10_000,
  maxIdLength: 1_024,
};

const EXTENSION = 'io.modelcontextprotocol/tasks';
const INTERNAL_ERROR = -32603;

/** What following a task needs of its connection. */
export interface TaskExchange {
  readonly server: string;
  readonly signal: AbortSignal;
  send(method: string, params: JsonObject): Promise<JsonObject>;
  /** Asks the client; returns `inputResponses`. */
  answers(inputRequests: JsonObject): Promise<JsonObject>;
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
export async function followTask(created: unknown, exchange: TaskExchange): Promise<JsonObject> {
  const { server, send } = exchange;
  const task = readTask(server, created);
  const { taskId } = task;
  return await cancelledWith(exchange, taskId, async () => {
    const result = send('tasks/result', { taskId });
    const over = result.then(
      () => true,
      () => true,
    );
    const look = looks(task, exchange);
    for (let pollMs = task.pollMs; ; ) {
      const pause = sleep(pollMs, false, { signal: exchange.signal });
      if (await Promise.race([over, pause])) break;
      ({ pollMs } = readTask(server, await look()));
    }
    return await result;
  });
}

/**
 * The same for a task of 2026-07-28 (SEP-2663): it is looked at until it has ended, and then has its result with it; what
 * it asks meanwhile is answered by `tasks/update`.
 */
export async function followModernTask(created: unknown, exchange: TaskExchange): Promise<JsonObject> {
  const { server, send, signal } = exchange;
  const task = readTask(server, created);
  const { taskId } = task;
  return await cancelledWith(exchange, taskId, async () => {
    const look = looks(task, exchange);
    for (let pollMs = task.pollMs; ; ) {
      await sleep(pollMs, undefined, { signal });
      const seen = await look();
      if (seen.status === 'completed') return (seen.result ?? {}) as JsonObject;
      if (seen.status === 'failed') throw errorOf(seen.error);
      if (seen.status === 'cancelled') throw fault(server, 'cancelled a task that nobody asked it to cancel');
      const asked = (seen.inputRequests ?? {}) as JsonObject;
      if (Object.keys(asked).length > 0)
        await send('tasks/update', { taskId, ...(await exchange.answers(asked)) });
      ({ pollMs } = readTask(server, seen));
    }
  });
}

async function cancelledWith<T>(exchange: TaskExchange, taskId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (exchange.signal.aborted) exchange.cancel(taskId);
    throw error;
  }
}

/** Looks at the task, and reports what it says of itself when that changes. */
function looks({ taskId, statusMessage }: TaskState, exchange: TaskExchange): () => Promise<JsonObject> {
  let [progress, before] = [0, statusMessage];
  return async () => {
    const seen = await exchange.send('tasks/get', { taskId });
    exchange.touch();
    progress += 1;
    const { statusMessage: message } = readTask(exchange.server, seen);
    if (message !== undefined && message !== before) exchange.onProgress?.({ progress, message });
    before = message;
    return seen;
  };
}

interface TaskState {
  readonly taskId: string;
  readonly statusMessage?: string;
  readonly pollMs: number;
}

/** In either era's words. */
function readTask(server: string, sent: unknown): TaskState {
  const { taskId, statusMessage, pollInterval, pollIntervalMs = pollInterval } = (sent ?? {}) as JsonObject;
  if (typeof taskId !== 'string' || taskId.length > DEFAULTS.maxIdLength)
    throw fault(server, 'returned no valid task for a tool that runs as a task');
  const asked = typeof pollIntervalMs === 'number' ? pollIntervalMs : DEFAULTS.pollMs;
  return {
    taskId,
    ...(typeof statusMessage === 'string' && { statusMessage }),
    pollMs: Math.min(DEFAULTS.maxPollMs, Math.max(DEFAULTS.minPollMs, asked)),
  };
}

function fault(server: string, what: string): UpstreamFault {
  const message = `Server "${server}" ${what}`;
  return new UpstreamFault({ code: 'upstream_error', errorType: 'UNKNOWN', message });
}

function errorOf(sent: unknown): ProtocolError {
  const { code, message, data } = (sent ?? {}) as JsonObject;
  const known = Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR;
  return ProtocolError.fromError(known, String(message ?? 'The task failed'), data);
}

export function hasTasks(capabilities: JsonObject | undefined): boolean {
  return (capabilities?.extensions as JsonObject | undefined)?.[EXTENSION] !== undefined;
}

/** The client, as one that knows tasks: PML follows them for it. */
export function withTasks(client: UpstreamClient | undefined): UpstreamClient {
  const { capabilities = {} } = client ?? {};
  const extensions = { ...(capabilities.extensions as JsonObject | undefined), [EXTENSION]: {} };
  const ask = () => Promise.reject(new Error('nobody can be asked'));
  return { id: '', ask, ...client, capabilities: { ...capabilities, extensions } };
}

/**
 * Lets results through that create a task: the SDK's client refuses every `resultType` but two. They arrive like those of
 * 2025-11-25, as `{task}`; `asCreatedTask` undoes that.
 */
export function letTasksThrough(transport: Transport): void {
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const { result } = message as { readonly result?: JsonObject };
    if (result?.resultType !== 'task') return deliver?.(message, extra);
    const { resultType: _, ...task } = result;
    const readable = { ...message, result: { resultType: 'complete', content: [], task } };
    deliver?.(readable as JSONRPCMessage as typeof message, extra);
  };
}

export function asCreatedTask(result: JsonObject): JsonObject {
  if (result.task === undefined) return result;
  return { resultType: 'task', ...(result.task as JsonObject) };
}
