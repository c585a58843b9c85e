import { ProtocolError } from '@modelcontextprotocol/server';
import { isSameCaller, type Principal } from '../../../core/vocabulary/principal.ts';
import type { JsonObject, UpstreamClient, UpstreamProgress } from '../../../engine/ports.ts';
import { cannotAsk } from '../client-capability.ts';
import type { RequestCaller } from '../endpoint.ts';
import { RPC } from '../rpc-error.ts';

/** The request that currently waits for the call: it gets progress, and cancelling it cancels the call. */
export interface Waiting {
  readonly signal: AbortSignal;
  onProgress(progress: UpstreamProgress): void;
}

export type Step =
  | { readonly kind: 'done'; readonly result: JsonObject }
  | { readonly kind: 'asks'; readonly inputRequests: JsonObject };

interface Question {
  readonly method: string;
  readonly params: JsonObject;
  answer(answer: JsonObject): void;
}

export interface HeldCallOptions {
  readonly id: string;
  readonly sessionId: string | null;
  readonly who: Principal;
  readonly capabilities: JsonObject;
  readonly info: JsonObject | undefined;
  /** Not every kind of request can be answered with questions. */
  readonly mayAsk: boolean;
}

/**
 * A call that outlives its request. In the 2026-07-28 era a server cannot send requests to a client: the
 * response contains the questions, and the client repeats its request with the answers. Meanwhile the call
 * waits.
 */
export class HeldCall {
  readonly id: string;
  readonly #options: HeldCallOptions;
  readonly #questions = new Map<string, Question>();
  readonly #end = new AbortController();
  #outcome: Promise<Step> | null = null;
  #waiting: Waiting | null = null;
  #asked = 0;
  #wake: (() => void) | null = null;

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
    for (const [key, answer] of Object.entries(answers))
      this.#questions.get(key)?.answer(answer as JsonObject);
    if (!this.#outcome) throw new TypeError('the call was not started');
    this.#waiting = waiting;
    const cancel = () => this.cancel(waiting.signal.reason);
    waiting.signal.addEventListener('abort', cancel, { once: true });
    try {
      return await Promise.race([this.#outcome, this.#questionsAsked()]);
    } finally {
      waiting.signal.removeEventListener('abort', cancel);
      this.#waiting = null;
      this.#wake = null;
    }
  }

  cancel(reason: unknown): void {
    this.#end.abort(reason);
  }

  #caller(): RequestCaller {
    const { sessionId, who, capabilities, info, id } = this.#options;
    const client: UpstreamClient = {
      id,
      capabilities,
      ...(info && { info }),
      ask: (method, params, signal) => this.#ask(method, params, signal),
    };
    const onProgress = (progress: UpstreamProgress) => this.#waiting?.onProgress(progress);
    return { sessionId, who, client, signal: this.#end.signal, onProgress };
  }

  async #ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const { capabilities, mayAsk } = this.#options;
    const refusal = mayAsk
      ? cannotAsk(capabilities, method, params)
      : 'This kind of request cannot ask questions';
    if (refusal) throw new ProtocolError(RPC.methodNotFound, refusal);
    const key = `question_${++this.#asked}`;
    return await new Promise<JsonObject>((resolve, reject) => {
      const withdraw = () => {
        this.#questions.delete(key);
        reject(signal.reason);
      };
      const answer = (given: JsonObject) => {
        signal.removeEventListener('abort', withdraw);
        this.#questions.delete(key);
        resolve(given);
      };
      signal.addEventListener('abort', withdraw, { once: true });
      this.#questions.set(key, { method, params, answer });
      // Questions asked together are sent together.
      queueMicrotask(() => this.#wake?.());
    });
  }

  /** Resolves at once if some questions are still unanswered. */
  async #questionsAsked(): Promise<Step> {
    // The answers may lead to more questions or end the call.
    if (this.#questions.size === 0)
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    const entries = [...this.#questions].map(([key, { method, params }]) => [key, { method, params }]);
    return { kind: 'asks', inputRequests: Object.fromEntries(entries) };
  }
}
