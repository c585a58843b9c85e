import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import { isSameCaller } from '../../../engine/people/roles.ts';
import type { JsonObject, UpstreamClient } from '../../../engine/ports.ts';
import type { ClientRequest, RequestCaller } from '../endpoint.ts';
import { invalidParams, methodNotFound, RPC, rpcShape } from '../rpc-error.ts';
import { OpenQuestions, type Question } from './held-call.ts';
import { cannotAsk } from './raw-server.ts';

const DEFAULTS = {
  /** Milliseconds that a 2026-07-28 client waits for a result before it gets a task. */
  patienceMs: 5_000,
  /** Milliseconds from its start after which a task is forgotten, and ended if it still runs. */
  ttlMs: 60 * 60_000,
  minTtlMs: 60_000,
  maxTtlMs: 24 * 60 * 60_000,
  /** Milliseconds between two looks that clients are advised to leave. */
  pollMs: 1_000,
  /** Tasks of all callers, and of one. */
  tasks: 1_000,
  tasksOfCaller: 64,
  pageSize: 50,
  /** Characters of what a task says about its progress. */
  message: 500,
  /** Tasks of servers whose owner is known, and the owners of one id: processes of several users may use the same. */
  owned: 10_000,
  ownersOfId: 16,
};

const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const RELATED_TASK = 'io.modelcontextprotocol/related-task';
const MISSING_CAPABILITY = -32021;
const ENDED = new Set<Status>(['completed', 'failed', 'cancelled']);

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** Both eras have tasks, in different ways; each client is told of its own era's. */
export function tasksCapability(modern: boolean): JsonObject {
  if (modern) return { extensions: { [TASKS_EXTENSION]: {} } };
  return { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
}

/** The capabilities of a server without the tasks of the era that this client does not speak. */
export function withoutForeignTasks(capabilities: JsonObject, modern: boolean): JsonObject {
  const { tasks, extensions, ...rest } = capabilities;
  const { [TASKS_EXTENSION]: extension, ...others } = (extensions ?? {}) as JsonObject;
  const kept = modern && extension !== undefined ? { ...others, [TASKS_EXTENSION]: extension } : others;
  return {
    ...rest,
    ...(!modern && tasks !== undefined && { tasks }),
    ...(extensions !== undefined && { extensions: kept }),
  };
}

function declaresTasks({ capabilities }: Pick<UpstreamClient, 'capabilities'>): boolean {
  return (capabilities.extensions as JsonObject | undefined)?.[TASKS_EXTENSION] !== undefined;
}

/** Throws unless the 2026-07-28 client has said that it knows tasks. */
export function needsTasks(client: Pick<UpstreamClient, 'capabilities'>): void {
  if (declaresTasks(client)) return;
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
  throw ProtocolError.fromError(MISSING_CAPABILITY, 'This needs the Tasks extension', {
    requiredCapabilities,
  });
}

/** Who started which task of a server: nobody else may see it. */
export class TaskOwners {
  readonly #owners = new LRUCache<string, readonly Principal[]>({ max: DEFAULTS.owned });

  /** If this result of a call is a task, it belongs to the caller from now on. */
  remember(who: Principal, result: JsonObject): void {
    const { taskId } = result.resultType === 'task' ? result : ((result.task ?? {}) as JsonObject);
    if (typeof taskId !== 'string' || this.owns(who, taskId)) return;
    const others = this.#owners.get(taskId) ?? [];
    this.#owners.set(taskId, [...others, who].slice(-DEFAULTS.ownersOfId));
  }

  owns(who: Principal, taskId: unknown): boolean {
    const owners = typeof taskId === 'string' ? (this.#owners.get(taskId) ?? []) : [];
    return owners.some((owner) => isSameCaller(owner, who));
  }
}

type Call = (request: ClientRequest) => Promise<JsonObject>;

/**
 * Calls of PML's own tools that go on while their client does something else. A task belongs to the key that started it:
 * to others it does not exist. With the process, its tasks end; a run is in the store all the same.
 */
export class Tasks {
  readonly #tasks = new Map<string, Task>();
  readonly #patienceMs: number;

  constructor(patienceMs = DEFAULTS.patienceMs) {
    this.#patienceMs = patienceMs;
  }

  /** Makes the call, as a task where the client asks for one, or where it takes long for a client that knows tasks. */
  async call(request: ClientRequest, call: Call): Promise<JsonObject> {
    const { params, modern, caller } = request;
    if (!modern && params.task !== undefined) return { task: this.#start(request, call).told(false) };
    // With answers it repeats a request that was no task.
    const isRetry = Object.keys(request.retry).length > 0;
    if (!modern || isRetry || !declaresTasks(caller.client)) return await call(request);
    const task = this.#start(request, call);
    const waited = new AbortController();
    const cancel = () => task.cancel();
    caller.signal.addEventListener('abort', cancel, { once: true });
    try {
      const late = sleep(this.#patienceMs, null, { signal: waited.signal, ref: false }).catch(() => null);
      await Promise.race([task.outcome.catch(() => null), task.questions.asked(), late]);
      if (!ENDED.has(task.status)) return { resultType: 'task', ...task.told(true) };
      this.#forget(task);
      return await task.outcome;
    } finally {
      waited.abort();
      caller.signal.removeEventListener('abort', cancel);
    }
  }

  /** The methods of both eras. */
  readonly methods: Readonly<Record<string, Call>> = {
    'tasks/get': async (request) => this.#find(request).seen(request.modern),
    'tasks/cancel': async (request) => {
      const task = this.#find(request);
      if (!request.modern && ENDED.has(task.status))
        throw invalidParams(`Task ${task.id} has ended already: ${task.status}`);
      task.cancel();
      return request.modern ? {} : task.told(false);
    },
    'tasks/update': async (request) => {
      if (!request.modern) throw methodNotFound(request.method);
      this.#find(request).questions.answer((request.retry.inputResponses ?? {}) as JsonObject);
      return {};
    },
    'tasks/result': async (request) => {
      if (request.modern) throw methodNotFound(request.method);
      const task = this.#find(request);
      const result = await task.finished(request.caller);
      const _meta = { ...(result._meta as JsonObject | undefined), [RELATED_TASK]: { taskId: task.id } };
      return { ...result, _meta };
    },
    'tasks/list': async ({ modern, method, params: { cursor }, caller }) => {
      if (modern) throw methodNotFound(method);
      const own = this.#of(caller.who);
      const from = cursor === undefined ? 0 : own.findIndex(({ id }) => id === cursor) + 1;
      if (cursor !== undefined && from === 0) throw invalidParams('The list has changed; start again');
      const page = own.slice(from, from + DEFAULTS.pageSize);
      const more = from + page.length < own.length && { nextCursor: page.at(-1)?.id };
      return { tasks: page.map((task) => task.told(false)), ...more };
    },
  };

  close(): void {
    for (const task of this.#tasks.values()) this.#forget(task);
  }

  #of(who: Principal): readonly Task[] {
    return [...this.#tasks.values()].filter((task) => isSameCaller(task.who, who));
  }

  #find({ params: { taskId }, caller, modern }: ClientRequest): Task {
    if (modern) needsTasks(caller.client);
    const task = this.#tasks.get(String(taskId));
    if (!task || !isSameCaller(task.who, caller.who)) throw invalidParams(`Task ${taskId} not found`);
    return task;
  }

  #start(request: ClientRequest, call: Call): Task {
    this.#makeRoom(request.caller.who);
    const task = new Task(request, call, () => this.#forget(task));
    this.#tasks.set(task.id, task);
    return task;
  }

  /** Forgets the caller's oldest task that has ended; those that run are not ended for another. */
  #makeRoom(who: Principal): void {
    const own = this.#of(who);
    if (own.length < DEFAULTS.tasksOfCaller && this.#tasks.size < DEFAULTS.tasks) return;
    const oldest = own.find(({ status }) => ENDED.has(status));
    if (!oldest) throw new ProtocolError(RPC.internal, 'Too many tasks are running; cancel one, or wait');
    this.#forget(oldest);
  }

  #forget(task: Task): void {
    this.#tasks.delete(task.id);
    task.end();
  }
}

interface Ended {
  readonly status: Status;
  readonly result?: JsonObject;
  readonly error?: JsonObject;
}

class Task {
  readonly id = randomUUID();
  readonly who: Principal;
  readonly questions = new OpenQuestions();
  readonly outcome: Promise<JsonObject>;
  readonly #createdAt = new Date().toISOString();
  readonly #ttlMs: number;
  readonly #expiry: NodeJS.Timeout;
  readonly #end = new AbortController();
  #ended: Ended | null = null;
  #message: string | null = null;
  #updatedAt = this.#createdAt;

  constructor(request: ClientRequest, call: Call, onExpired: () => void) {
    this.who = request.caller.who;
    this.#ttlMs = ttlOf(request.params.task);
    this.#expiry = setTimeout(onExpired, this.#ttlMs).unref();
    const { task: _, ...params } = request.params;
    const over = Promise.withResolvers<JsonObject>();
    this.outcome = over.promise;
    // It may fail while no request waits for it.
    this.outcome.catch(() => {});
    this.#end.signal.addEventListener('abort', () => over.reject(this.#end.signal.reason), { once: true });
    call({ ...request, params, caller: this.#caller(request.caller) })
      .then((result) => {
        this.#finish({ status: 'completed', result });
        over.resolve(result);
      })
      .catch((thrown) => {
        this.#finish({ status: 'failed', error: rpcShape(thrown) });
        over.reject(thrown);
      });
  }

  get status(): Status {
    return this.#ended?.status ?? (this.questions.size > 0 ? 'input_required' : 'working');
  }

  /** As the era describes a task. */
  told(modern: boolean): JsonObject {
    const times = modern
      ? { ttlMs: this.#ttlMs, pollIntervalMs: DEFAULTS.pollMs }
      : { ttl: this.#ttlMs, pollInterval: DEFAULTS.pollMs };
    return {
      taskId: this.id,
      status: this.status,
      ...(this.#message !== null && { statusMessage: this.#message }),
      createdAt: this.#createdAt,
      lastUpdatedAt: this.#updatedAt,
      ...times,
    };
  }

  /** For `tasks/get`, which in the newer era has the result or the questions with it. */
  seen(modern: boolean): JsonObject {
    if (!modern) return this.told(false);
    const { result, error } = this.#ended ?? {};
    const asks = this.status === 'input_required' && { inputRequests: this.questions.requests() };
    return { ...this.told(true), ...asks, ...(result && { result }), ...(error && { error }) };
  }

  /** Waits for the result; the client that waits is asked what the task asks meanwhile. */
  async finished({ client, signal }: RequestCaller): Promise<JsonObject> {
    const gone = Promise.withResolvers<never>();
    gone.promise.catch(() => {});
    signal.addEventListener('abort', () => gone.reject(signal.reason), { once: true });
    for (;;) {
      const result = await Promise.race([this.outcome, this.questions.asked(), gone.promise]);
      if (result !== null) return result;
      const ask = async ({ key, method, params }: Question) => {
        const _meta = { ...(params._meta as JsonObject | undefined), [RELATED_TASK]: { taskId: this.id } };
        try {
          this.questions.answer({ [key]: await client.ask(method, { ...params, _meta }, signal) });
        } catch (error) {
          // A client that is gone has not refused to answer.
          if (!signal.aborted) this.questions.refuse(key, error);
        }
      };
      await Promise.all(this.questions.open().map(ask));
    }
  }

  cancel(): void {
    if (this.#ended) return;
    this.#finish({ status: 'cancelled' });
    this.#end.abort(new ProtocolError(RPC.internal, `Task ${this.id} was cancelled`));
  }

  /** Nobody asks for it any more. */
  end(): void {
    clearTimeout(this.#expiry);
    this.cancel();
  }

  #finish(ended: Ended): void {
    if (this.#ended) return;
    this.#ended = ended;
    this.#updatedAt = new Date().toISOString();
  }

  /** The request is answered before the call has ended: from then on it is the task that is asked and told. */
  #caller({ client, onProgress, ...caller }: RequestCaller): RequestCaller {
    return {
      ...caller,
      signal: this.#end.signal,
      client: {
        ...client,
        ask: (method, params, signal) => {
          const refusal = cannotAsk(client.capabilities, method, params);
          if (refusal) throw new ProtocolError(RPC.methodNotFound, refusal);
          return this.questions.ask(method, params, signal);
        },
      },
      onProgress: (progress) => {
        onProgress?.(progress);
        const { progress: done, total } = progress;
        const message = progress.message ?? (total === undefined ? undefined : `${done} of ${total}`);
        if (this.#ended || message === undefined) return;
        this.#message = message.slice(0, DEFAULTS.message);
        this.#updatedAt = new Date().toISOString();
      },
    };
  }
}

/** What the client asks for, within bounds. */
function ttlOf(task: unknown): number {
  const { ttl } = (task ?? {}) as JsonObject;
  if (typeof ttl !== 'number' || !Number.isFinite(ttl)) return DEFAULTS.ttlMs;
  return Math.round(Math.min(DEFAULTS.maxTtlMs, Math.max(DEFAULTS.minTtlMs, ttl)));
}
