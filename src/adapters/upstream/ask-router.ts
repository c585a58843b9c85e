import { AsyncLocalStorage } from 'node:async_hooks';
import { ProtocolError } from '@modelcontextprotocol/client';
import type { JsonObject, UpstreamClient } from '../../engine/ports.ts';

/**
 * Ends a request after `ms` without progress, or when its caller cancels. Progress restarts the timer; it
 * stops while a person is being asked.
 */
export class QuietDeadline {
  readonly #controller = new AbortController();
  readonly #ms: number;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerAbort = () => this.#controller.abort(this.#caller?.reason);
  readonly #isFirm: boolean;
  /** Milliseconds that were left when the timer last started. */
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #holds = 0;
  #disposed = false;
  #expired = false;

  /** With `isFirm`, progress does not restart the timer. */
  constructor(ms: number, caller: AbortSignal | undefined, isFirm = false) {
    this.#ms = ms;
    this.#left = ms;
    this.#isFirm = isFirm;
    this.#caller = caller;
    caller?.addEventListener('abort', this.#onCallerAbort, { once: true });
    if (caller?.aborted) this.#onCallerAbort();
    this.#run();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get expired(): boolean {
    return this.#expired;
  }

  touch(): void {
    if (!this.#isFirm) this.#run();
  }

  #run(): void {
    clearTimeout(this.#timer);
    if (this.#holds > 0 || this.#disposed || this.signal.aborted) return;
    this.#since = Date.now();
    this.#timer = setTimeout(() => {
      this.#expired = true;
      this.#controller.abort(new Error(`no answer within ${this.#ms} ms`));
    }, this.#left);
  }

  /** Stops the timer until the returned function is called. */
  hold(): () => void {
    if (this.#isFirm && this.#holds === 0) this.#left = Math.max(0, this.#left - (Date.now() - this.#since));
    this.#holds += 1;
    clearTimeout(this.#timer);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#run();
    };
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#onCallerAbort);
  }
}

const METHOD_NOT_FOUND = -32601;

const CAPABILITY_OF: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** A question inside an `input_required` result. */
export interface InputRequest {
  readonly method: string;
  readonly params?: JsonObject;
}

const DEFAULTS = { waitMs: 10_000 };

/** A request in flight and its client. */
export interface Call {
  readonly client: UpstreamClient | undefined;
  /** Absent for PML's own requests. */
  readonly user?: string | undefined;
  readonly deadline: QuietDeadline;
}

/**
 * Finds the request that a server's question or log message belongs to. Over HTTP it arrives on the stream of
 * its request, known from the async context. Stdio gives no such link: when requests of several clients are
 * in flight, the question waits until only one client's are left (the request that asks cannot end before it
 * is answered), and from then on clients take turns with this server. A question never reaches the wrong
 * client.
 */
export class AskRouter {
  readonly #calls = new Set<Call>();
  readonly #context = new AsyncLocalStorage<Call>();
  readonly #waitMs: number;
  /** Calls that wait for other clients' calls to end, in order of arrival. */
  readonly #queue: Call[] = [];
  readonly #onChange = new Set<() => void>();
  #takesTurns = false;

  constructor(waitMs: number = DEFAULTS.waitMs) {
    this.#waitMs = waitMs;
  }

  /** Runs a request so that questions from the server can be passed to its client. */
  async run<T>(call: Call, request: () => Promise<T>): Promise<T> {
    if (this.#takesTurns) await this.#turn(call);
    else this.#calls.add(call);
    try {
      return await this.#context.run(call, request);
    } finally {
      this.#calls.delete(call);
      this.#changed();
    }
  }

  /**
   * The calls a question may belong to, all of one client; exactly one if the stream identifies it. Empty
   * when nothing is in flight or the client cannot be determined in time.
   */
  async owners(signal: AbortSignal): Promise<readonly Call[]> {
    const exact = this.#exact();
    if (exact) return [exact];
    if (this.#calls.size === 0) return [];
    this.#takesTurns = true;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#waitMs)]);
    try {
      while (this.#clients().size > 1) await this.#change(limit);
    } catch {
      return [];
    }
    return [...this.#calls];
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    const { signal } = new AbortController();
    while (this.#calls.size > 0) await this.#change(signal);
  }

  /** Like `owners`, without waiting. */
  current(): readonly Call[] {
    const exact = this.#exact();
    if (exact) return [exact];
    return this.#clients().size === 1 ? [...this.#calls] : [];
  }

  #exact(): Call | null {
    const call = this.#context.getStore();
    return call && this.#calls.has(call) ? call : null;
  }

  #clients(): Set<string | undefined> {
    return new Set([...this.#calls].map((call) => call.client?.id));
  }

  async #turn(call: Call): Promise<void> {
    this.#queue.push(call);
    const release = call.deadline.hold();
    try {
      while (this.#queue[0] !== call || !this.#isFreeFor(call)) await this.#change(call.deadline.signal);
      this.#calls.add(call);
    } finally {
      release();
      this.#queue.splice(this.#queue.indexOf(call), 1);
      this.#changed();
    }
  }

  #isFreeFor(call: Call): boolean {
    const clients = this.#clients();
    return clients.size === 0 || (clients.size === 1 && clients.has(call.client?.id));
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        this.#onChange.delete(go);
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener('abort', leave);
        this.#onChange.delete(go);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#onChange.add(go);
    });
  }

  #changed(): void {
    for (const go of [...this.#onChange]) go();
  }
}

/**
 * Passes a server's question to the client of its request; meanwhile the requests it may belong to do not
 * time out. Rejects with the error for the server.
 */
export async function askClient(
  calls: readonly Call[],
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const client = calls[0]?.client;
  const capability = CAPABILITY_OF[method];
  if (!client || !capability || client.capabilities[capability] === undefined) {
    // Servers may ask for roots when they start, before any request: the list is empty then.
    if (method === 'roots/list') return { roots: [] };
    const who = client ? `Client "${client.id}" does not support` : 'No client can answer';
    throw new ProtocolError(METHOD_NOT_FOUND, `${who} ${method}`);
  }
  const release = calls.map((call) => call.deadline.hold());
  try {
    return await client.ask(method, params, signal);
  } finally {
    for (const free of release) free();
  }
}
