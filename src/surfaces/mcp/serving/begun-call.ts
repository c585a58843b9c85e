import {
  type JSONRPCRequest,
  ProtocolErrorCode,
  type RequestId,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { isJsonObject } from '../../../core/vocabulary/read-wire.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import { rpcShape } from '../rpc-error.ts';

const DEFAULTS = {
  /** Milliseconds within which an answer needs no stream: nobody loses a connection that fast. */
  promptMs: 50,
};

/** What a request of the 2025-11-25 era can do besides answering. */
export interface CallContext {
  readonly mcpReq: Pick<ServerContext['mcpReq'], 'id' | 'signal' | 'notify' | 'send'>;
  readonly http?: { readonly req?: Request };
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
      notify: async (...said: Parameters<CallContext['mcpReq']['notify']>) =>
        await (await onStream()).notify(...said),
      send: (async (...asked: Parameters<CallContext['mcpReq']['send']>) =>
        await (await onStream()).send(...asked)) as CallContext['mcpReq']['send'],
    };
    this.#result = begin(call, { mcpReq, http: { req: request } });
  }

  /** Null if it takes longer, or has to say something first: it goes on and needs a stream. */
  async promptAnswer(session: string): Promise<Response | null> {
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(resolve, DEFAULTS.promptMs, null);
    const answered = this.#result.then(
      (result) => ({ jsonrpc: '2.0', id: this.id, result }),
      (error) => ({ jsonrpc: '2.0', id: this.id, error: legacyError(error) }),
    );
    const answer = await Promise.race([answered, this.#toSay.promise, late]);
    clearTimeout(timer);
    const headers = { 'content-type': 'application/json', 'mcp-session-id': session };
    return answer && new Response(JSON.stringify(answer), { headers });
  }

  /** It has a stream now. */
  async goOn(context: ServerContext): Promise<JsonObject> {
    const { signal } = context.mcpReq;
    signal.addEventListener('abort', () => this.cancel(signal.reason), { once: true });
    this.#streamed.resolve(context);
    return await this.#result;
  }

  cancel(reason?: unknown): void {
    this.#cancelled.abort(reason);
  }
}

/** As this era has it: what is missing is an invalid parameter. */
function legacyError(thrown: unknown): JsonObject {
  const error = rpcShape(thrown);
  return error.code === ProtocolErrorCode.ResourceNotFound
    ? { ...error, code: ProtocolErrorCode.InvalidParams }
    : error;
}

/**
 * The message as a call of the 2025-11-25 era that needs no further check; null for all others, such as those that ask for
 * a task or that the SDK would refuse.
 */
export function asPlainCall({ headers }: Request, message: unknown): PlainCall | null {
  if (!isJsonObject(message) || message.method !== 'tools/call') return null;
  const { jsonrpc, id, method: _, params, ...more } = message;
  if (jsonrpc !== '2.0' || !(typeof id === 'string' || Number.isSafeInteger(id))) return null;
  if (!isJsonObject(params) || Object.keys(more).length > 0) return null;
  const { name, arguments: args = {}, _meta: meta = {}, ...rest } = params;
  const isPlain = typeof name === 'string' && isJsonObject(args) && Object.keys(rest).length === 0;
  if (!isPlain || !isPlainMeta(meta)) return null;
  const accept = headers.get('accept');
  if (!accept?.includes('application/json') || !accept.includes('text/event-stream')) return null;
  const version = headers.get('mcp-protocol-version');
  const isServed = version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version);
  return isServed ? (message as unknown as PlainCall) : null;
}

const OF_THE_PROTOCOL = 'io.modelcontextprotocol/';

function isPlainMeta(meta: unknown): boolean {
  if (!isJsonObject(meta)) return false;
  const { progressToken } = meta;
  const isToken = progressToken === undefined || ['string', 'number'].includes(typeof progressToken);
  return isToken && Object.keys(meta).every((key) => !key.startsWith(OF_THE_PROTOCOL));
}
