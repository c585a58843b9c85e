import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolErrorCode,
  type RequestId,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../engine/ports.ts';
import { rpcShape } from '../rpc-error.ts';

const DEFAULTS = {
  /** Milliseconds within which an answer needs no stream: nobody loses a connection that fast. */
  promptMs: 50,
};

/** What a request of this era can do besides answering. */
export interface CallContext {
  readonly mcpReq: Pick<ServerContext['mcpReq'], 'id' | 'signal' | 'notify' | 'send'>;
  readonly http?: { readonly req?: Request };
  /** Of a call that came without a request over HTTP: whom its sender speaks for. */
  readonly clientName?: string;
}

export type PlainCall = JSONRPCRequest & { readonly params: JsonObject };

type Begin = (call: PlainCall, context: CallContext) => Promise<JsonObject>;

/**
 * A call that has begun before it is known how it is answered: at once and with nothing said before, by a plain response;
 * else on a stream, which can be picked up again. A stream costs both sides as much as the whole rest of a short call.
 */
export class BegunCall {
  readonly #cancelled = new AbortController();
  readonly #streamed = Promise.withResolvers<ServerContext>();
  readonly #toSay = Promise.withResolvers<null>();
  readonly #result: Promise<JsonObject>;
  /** Notifications that wait for the stream: the answer ends it. */
  readonly #early: Promise<unknown>[] = [];
  #hasStream = false;
  readonly id: RequestId;

  constructor(request: Request, call: PlainCall, begin: Begin) {
    this.id = call.id;
    const onStream = async () => {
      this.#toSay.resolve(null);
      return (await this.#streamed.promise).mcpReq;
    };
    const mcpReq = {
      id: call.id,
      signal: this.#cancelled.signal,
      notify: async (...said: Parameters<CallContext['mcpReq']['notify']>) => {
        const told = onStream().then((stream) => stream.notify(...said));
        if (!this.#hasStream) this.#early.push(told);
        await told;
      },
      send: (async (...asked: Parameters<CallContext['mcpReq']['send']>) =>
        await (await onStream()).send(...asked)) as CallContext['mcpReq']['send'],
    };
    this.#result = begin(call, { mcpReq, http: { req: request } });
  }

  /** Null if it takes longer, or has to say something first: it goes on and needs a stream. */
  async promptAnswer(session: string): Promise<Response | null> {
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(resolve, DEFAULTS.promptMs, null);
    const answered = answerOf(this.id, this.#result);
    const answer = await Promise.race([answered, this.#toSay.promise, late]);
    clearTimeout(timer);
    const headers = { 'content-type': 'application/json', 'mcp-session-id': session };
    return answer && new Response(JSON.stringify(answer), { headers });
  }

  /** It has a stream now. */
  async goOn(context: ServerContext): Promise<JsonObject> {
    const { signal } = context.mcpReq;
    signal.addEventListener('abort', () => this.cancel(signal.reason), { once: true });
    this.#hasStream = true;
    this.#streamed.resolve(context);
    try {
      return await this.#result;
    } finally {
      await Promise.allSettled(this.#early);
    }
  }

  cancel(reason?: unknown): void {
    this.#cancelled.abort(reason);
  }
}

/** The message that answers a request, whether it succeeded or not. */
export async function answerOf(id: RequestId, result: Promise<JsonObject>): Promise<JSONRPCMessage> {
  try {
    return { jsonrpc: '2.0', id, result: await result };
  } catch (thrown) {
    const error = rpcShape(thrown);
    // As this era has it: what is missing is an invalid parameter.
    const isMissing = error.code === ProtocolErrorCode.ResourceNotFound;
    const code = isMissing ? ProtocolErrorCode.InvalidParams : error.code;
    return { jsonrpc: '2.0', id, error: { ...error, code } } as JSONRPCMessage;
  }
}

/** The message as a call of this era, if its request says that both forms of an answer are understood; else null. */
export function asPlainCall({ headers }: Request, message: unknown): PlainCall | null {
  const accept = headers.get('accept');
  if (!accept?.includes('application/json') || !accept.includes('text/event-stream')) return null;
  const version = headers.get('mcp-protocol-version');
  const isServed = version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version);
  return isServed ? plainCall(message) : null;
}

/**
 * The message as a call of this era that needs no further check; null for all others, such as those that ask for a task or
 * that the SDK would refuse.
 */
export function plainCall(message: unknown): PlainCall | null {
  const { jsonrpc, id, method, params, ...more } = (message ?? {}) as Partial<PlainCall>;
  if (method !== 'tools/call' || jsonrpc !== '2.0' || Object.keys(more).length > 0) return null;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null;
  const { name, arguments: _, _meta: meta = {}, ...rest } = params ?? {};
  if (typeof name !== 'string' || Object.keys(rest).length > 0 || !isPlainMeta(meta)) return null;
  return message as PlainCall;
}

const OF_THE_PROTOCOL = 'io.modelcontextprotocol/';

function isPlainMeta(meta: unknown): boolean {
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return false;
  const { progressToken } = meta as JsonObject;
  const isToken = progressToken === undefined || ['string', 'number'].includes(typeof progressToken);
  return isToken && Object.keys(meta).every((key) => !key.startsWith(OF_THE_PROTOCOL));
}
