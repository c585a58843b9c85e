import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, ProtocolError, type ServerContext } from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { RPC } from '../rpc-error.ts';
import type { HeldCall, Waiting } from './held-call.ts';

const DEFAULTS = {
  /** How long a person may take to answer. */
  holdMs: 10 * 60_000,
  calls: 1_000,
};

interface State {
  readonly held: string;
}

/** Calls whose client was asked something, until it repeats its request with the answers. */
export class HeldCalls {
  readonly #calls = new Map<string, { call: HeldCall; expiry: NodeJS.Timeout }>();
  readonly #holdMs: number;
  readonly #codec;

  constructor(holdMs = DEFAULTS.holdMs) {
    this.#holdMs = holdMs;
    this.#codec = createRequestStateCodec<State>({
      key: randomBytes(32),
      ttlSeconds: Math.ceil(holdMs / 1_000),
      bind: ({ mcpReq }) => mcpReq.method,
    });
  }

  /** Waits for the call's result, or for what it asks, and holds it in that case. */
  async answer(
    call: HeldCall,
    waiting: Waiting,
    context: ServerContext,
    answers?: JsonObject,
  ): Promise<JsonObject> {
    const step = await call.next(waiting, answers);
    if (step.kind === 'done') return step.result;
    this.#hold(call);
    const requestState = await this.#codec.mint({ held: call.id }, context);
    return { resultType: 'input_required', inputRequests: step.inputRequests, requestState };
  }

  /** The call that is meant; null when the state is none of ours, but the server's further up. */
  async find(requestState: unknown, context: ServerContext, who: Principal): Promise<HeldCall | null> {
    if (typeof requestState !== 'string') return null;
    const state = await Promise.resolve(this.#codec.verify(requestState, context)).catch(() => null);
    if (!state) return null;
    const held = this.#calls.get((state as State).held);
    if (!held?.call.isOf(who)) {
      const message = 'This call has expired; send it again';
      throw new ProtocolError(RPC.invalidParams, message, { reason: 'invalid_request_state' });
    }
    clearTimeout(held.expiry);
    this.#calls.delete(held.call.id);
    return held.call;
  }

  close(): void {
    for (const { call, expiry } of this.#calls.values()) {
      clearTimeout(expiry);
      call.cancel(new Error('the gateway is closing'));
    }
    this.#calls.clear();
  }

  #hold(call: HeldCall): void {
    if (this.#calls.size >= DEFAULTS.calls) {
      call.cancel(new Error('too many calls wait for answers'));
      throw new ProtocolError(RPC.internal, 'Too many calls wait for answers of their clients');
    }
    const giveUp = () => {
      this.#calls.delete(call.id);
      call.cancel(new Error('nobody answered'));
    };
    this.#calls.set(call.id, { call, expiry: setTimeout(giveUp, this.#holdMs).unref() });
  }
}
