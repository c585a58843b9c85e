import { ProtocolError } from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { TraceContext } from '../../../core/vocabulary/trace-context.ts';
import { isSameCaller } from '../../../engine/people/roles.ts';
import type { JsonObject, UpstreamClient, UpstreamProgress } from '../../../engine/ports.ts';
import type { RequestCaller } from '../endpoint.ts';
import { RPC } from '../rpc-error.ts';
import { cannotAsk } from './raw-server.ts';

/** The request that currently waits for the call: it gets progress, and cancelling it cancels the call. */
export interface Waiting {
  readonly signal: AbortSignal;
  onProgress(progress: UpstreamProgress): void;
}

export type Step =
  | { readonly kind: 'done'; readonly result: JsonObject }
  | { readonly kind: 'asks'; readonly inputRequests: JsonObject };

export interface Question {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

interface OpenQuestion extends Question {
  answer(answer: JsonObject): void;
  refuse(reason: unknown): void;
}

/** What a call asks its client and has not been told yet, by key. */
export class OpenQuestions {
  readonly #open = new Map<string, OpenQuestion>();
  #count = 0;
  #news = Promise.withResolvers<void>();

  get size(): number {
    return this.#open.size;
  }

  open(): readonly Question[] {
    return [...this.#open.values()];
  }

  /** As the 2026-07-28 era sends them. */
  requests(): JsonObject {
    const entries = this.open().map(({ key, method, params }) => [key, { method, params }]);
    return Object.fromEntries(entries);
  }

  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const key = `question_${++this.#count}`;
    const answered = Promise.withResolvers<JsonObject>();
    const close = () => {
      signal.removeEventListener('abort', withdraw);
      this.#open.delete(key);
    };
    const refuse = (reason: unknown) => {
      close();
      answered.reject(reason);
    };
    const withdraw = () => refuse(signal.reason);
    const answer = (given: JsonObject) => {
      close();
      answered.resolve(given);
    };
    signal.addEventListener('abort', withdraw, { once: true });
    this.#open.set(key, { key, method, params, answer, refuse });
    // Questions asked together are sent together.
    queueMicrotask(() => {
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    });
    return answered.promise;
  }

  answer(answers: JsonObject): void {
    for (const [key, answer] of Object.entries(answers)) this.#open.get(key)?.answer(answer as JsonObject);
  }

  refuse(key: string, reason: unknown): void {
    this.#open.get(key)?.refuse(reason);
  }

  /** Resolves at once if some questions are still unanswered. */
  async asked(): Promise<null> {
    while (this.#open.size === 0) await this.#news.promise;
    return null;
  }
}

export interface HeldCallOptions {
  readonly id: string;
  readonly sessionId: string | null;
  readonly who: Principal;
  readonly capabilities: JsonObject;
  readonly info: JsonObject | undefined;
  /** Not every kind of request can be answered with questions. */
  readonly mayAsk: boolean;
  readonly trace: TraceContext | null;
}

/**
 * A call that outlives its request. In the 2026-07-28 era a server cannot send requests to a client: the
 * response contains the questions, and the client repeats its request with the answers. Meanwhile the call
 * waits.
 */
export class HeldCall {
  readonly id: string;
  readonly #options: HeldCallOptions;
  readonly #questions = new OpenQuestions();
  readonly #end = new AbortController();
  #outcome: Promise<Step> | null = null;
  #waiting: Waiting | null = null;

  constructor(options: HeldCallOptions) {
    this.id = options.id;
    this.#options = options;
  }

  isOf(who: Principal): boolean {
    return isSameCaller(this.#options.who, who);
  }

  start(work: (caller: RequestCaller) => Promise<JsonObject>): void {
    this.#outcome = work(this.#caller()).then((result) => ({ kind: 'done', result }));
    // It may fail while no request waits for it; the next request gets the error.
    this.#outcome.catch(() => {});
  }

  /** The response to the current request. */
  async next(waiting: Waiting, answers: JsonObject = {}): Promise<Step> {
    this.#questions.answer(answers);
    if (!this.#outcome) throw new TypeError('the call was not started');
    this.#waiting = waiting;
    const cancel = () => this.cancel(waiting.signal.reason);
    waiting.signal.addEventListener('abort', cancel, { once: true });
    try {
      const asks = async (): Promise<Step> => {
        // The answers may lead to more questions or end the call.
        await this.#questions.asked();
        return { kind: 'asks', inputRequests: this.#questions.requests() };
      };
      return await Promise.race([this.#outcome, asks()]);
    } finally {
      waiting.signal.removeEventListener('abort', cancel);
      this.#waiting = null;
    }
  }

  cancel(reason: unknown): void {
    this.#end.abort(reason);
  }

  #caller(): RequestCaller {
    const { sessionId, who, capabilities, info, id, trace } = this.#options;
    const client: UpstreamClient = {
      id,
      capabilities,
      ...(info && { info }),
      ask: (method, params, signal) => this.#ask(method, params, signal),
    };
    const onProgress = (progress: UpstreamProgress) => this.#waiting?.onProgress(progress);
    return { sessionId, who, client, signal: this.#end.signal, onProgress, ...(trace && { trace }) };
  }

  async #ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { capabilities, mayAsk } = this.#options;
    const refusal = mayAsk
      ? cannotAsk(capabilities, method, params)
      : 'This kind of request cannot ask questions';
    if (refusal) throw new ProtocolError(RPC.methodNotFound, refusal);
    return await this.#questions.ask(method, params, signal);
  }
}
