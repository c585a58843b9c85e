import type {
  JsonObject,
  ServerSettings,
  ToolResult,
  UpstreamClient,
  UpstreamFailure,
  UpstreamIdentity,
  UpstreamOptions,
  UpstreamProgress,
  UpstreamReply,
  UpstreamTool,
} from '../../src/engine/ports.ts';

/** A server made of functions. */
export interface MemoryServer {
  readonly name: string;
  readonly tools: readonly MemoryTool[];
  /** Answers to other requests, by method. */
  readonly requests?: Readonly<Record<string, MemoryHandler<JsonObject>>>;
  readonly identity?: Partial<UpstreamIdentity>;
  /** The server never starts, for this reason. */
  readonly startFailure?: UpstreamFailure;
  /** It starts, and refuses to list its tools with this message. */
  readonly listFailure?: string;
  readonly settings?: Partial<Pick<ServerSettings, 'disabled' | 'timeoutMs' | 'credentials'>>;
}

export interface MemoryTool {
  readonly definition: UpstreamTool;
  readonly call: MemoryHandler<ToolResult>;
}

export type MemoryHandler<T> = (params: JsonObject, context: MemoryContext) => T | Promise<T>;

export interface MemoryContext {
  readonly signal: AbortSignal;
  readonly client: UpstreamClient | null;
  /** The user whose credentials are used; null for those of the configuration. */
  readonly user: string | null;
  /** `_meta` of the request. */
  readonly meta: JsonObject;
  progress(progress: UpstreamProgress): void;
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  /** Sends a notification to every listener. */
  notify(method: string, params: JsonObject): void;
}

/** Thrown by a handler: the JSON-RPC error a server would answer with. */
export class MemoryRpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface MemoryAnswerOptions extends UpstreamOptions {
  readonly server: string;
  readonly timeoutMs: number;
  readonly notify: MemoryContext['notify'];
}

/** Runs a handler as a server would: until it answers, is silent for too long, or is cancelled. */
export async function answerInTime<T>(
  options: MemoryAnswerOptions,
  handler: (context: MemoryContext) => T | Promise<T>,
): Promise<UpstreamReply<T>> {
  const { server, timeoutMs, client } = options;
  const silence = new AbortController();
  const expire = () => silence.abort();
  let timer = setTimeout(expire, timeoutMs);
  const restart = () => {
    clearTimeout(timer);
    timer = setTimeout(expire, timeoutMs);
  };
  const signal = AbortSignal.any([silence.signal, ...(options.signal ? [options.signal] : [])]);
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const context: MemoryContext = {
    signal,
    client: client ?? null,
    user: options.user ?? null,
    meta: options.meta ?? {},
    notify: options.notify,
    progress: (progress) => {
      if (!options.isFirm) restart();
      options.onProgress?.(progress);
    },
    ask: async (method, params) => {
      clearTimeout(timer);
      if (!client) throw new MemoryRpcError(-32601, `There is nobody to answer ${method}`);
      const answer = await client.ask(method, params, signal);
      restart();
      return answer;
    },
  };
  try {
    return { ok: true, value: await Promise.race([handler(context), ended]) };
  } catch (error) {
    if (options.signal?.aborted) return cancelled(server);
    if (!silence.signal.aborted) return { ok: false, error: rpcFailure(server, error) };
    return failed(
      'upstream_timeout',
      'TIMEOUT',
      `Server "${server}" gave no sign of life for ${timeoutMs} ms`,
    );
  } finally {
    clearTimeout(timer);
  }
}

function rpcFailure(server: string, error: unknown): UpstreamFailure {
  const { message } = error as Error;
  const rpc =
    error instanceof MemoryRpcError
      ? { code: error.code, message, data: error.data }
      : { code: -32603, message };
  const notFound = rpc.code === -32601 || (rpc.code === -32602 && /unknown|not found/i.test(message));
  return {
    code: 'upstream_error',
    errorType: notFound ? 'NOT_FOUND' : rpc.code === -32602 ? 'VALIDATION' : 'UNKNOWN',
    message: `Server "${server}" answered: ${message}`,
    rpc,
  };
}

export function cancelled(server: string): { readonly ok: false; readonly error: UpstreamFailure } {
  return failed('cancelled', 'UNKNOWN', `The request to server "${server}" was cancelled`);
}

export function failed(
  code: UpstreamFailure['code'],
  errorType: UpstreamFailure['errorType'],
  message: string,
) {
  return { ok: false, error: { code, errorType, message } } as const;
}
