import { randomUUID } from 'node:crypto';
import {
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type Server,
  type ServerContext,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import { isSameCaller } from '../../../engine/people/roles.ts';
import type { JsonObject, UpstreamClient, UpstreamProgress } from '../../../engine/ports.ts';
import type { Endpoint, RequestCaller, ServerInfo } from '../endpoint.ts';
import { type ClientChannel, whenEnded } from '../endpoint.ts';
import { RPC, rpcResponse, rpcShape, thrownResponse } from '../rpc-error.ts';
import { cannotAsk, namedClient, rawServer, readParams, UNTOUCHED } from './raw-server.ts';
import { RecentEvents } from './recent-events.ts';

const DEFAULTS = {
  sessions: 256,
  /** Milliseconds without a call or a listening client after which a session ends. */
  idleMs: 30 * 60_000,
  sweepMs: 60_000,
  /** Milliseconds a person has to answer. */
  askMs: 10 * 60_000,
  /** Milliseconds before a disconnected client should reconnect. */
  retryMs: 500,
  /** Milliseconds within which an answer needs no stream: nobody loses a connection that fast. */
  promptMs: 50,
};
const CANCELLED = -32800;

export interface LegacyOptions {
  readonly onError: (error: Error) => void;
  readonly now: () => number;
  readonly sessions?: number;
  readonly idleMs?: number;
  readonly sweepMs?: number;
}

/** Serves the 2025-11-25 era: sessions, created by the handshake and kept until the client is gone. */
export class LegacyServing {
  readonly #endpoint: Endpoint;
  readonly #options: Required<LegacyOptions>;
  readonly #sessions = new Map<string, LegacySession>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(endpoint: Endpoint, options: LegacyOptions) {
    this.#endpoint = endpoint;
    const { sessions, idleMs, sweepMs } = DEFAULTS;
    this.#options = { sessions, idleMs, sweepMs, ...options };
    this.#sweeper = setInterval(() => this.#sweep(), this.#options.sweepMs).unref();
  }

  sessions(): Iterable<ClientChannel> {
    return this.#sessions.values();
  }

  async fetch(request: Request, body: unknown, who: Principal): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const isHandshake = (body as { method?: unknown } | null | undefined)?.method === 'initialize';
    if (isHandshake) return await this.#open(request, body, who);
    if (id === null) return rpcResponse(400, { code: -32000, message: 'Bad Request: no session yet' });
    const session = this.#sessions.get(id);
    // A session belongs to the key that opened it; other callers get 404.
    if (session?.isOf(who)) return await session.fetch(request, body, who);
    return rpcResponse(404, { code: RPC.sessionNotFound, message: 'Session not found' });
  }

  /** The answer to a call in an open session of its caller; null without one. */
  call(request: Request, call: PlainCall, who: Principal): Promise<Response> | null {
    const session = this.#sessions.get(request.headers.get('mcp-session-id') ?? '');
    return session?.isOf(who) ? session.call(request, call, who) : null;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #open(request: Request, body: unknown, who: Principal): Promise<Response> {
    if (this.#sessions.size >= this.#options.sessions && !this.#closeIdlest(who)) {
      return rpcResponse(503, { code: RPC.internal, message: 'Too many open sessions' });
    }
    try {
      const session = new LegacySession({
        endpoint: this.#endpoint,
        serverInfo: await this.#endpoint.serverInfo(who, false),
        who,
        now: this.#options.now,
        onError: this.#options.onError,
        onOpen: (opened) => this.#sessions.set(opened.clientId, opened),
        onClose: (closed) => this.#closed(closed),
      });
      await session.open();
      return await session.fetch(request, body, who);
    } catch (error) {
      return thrownResponse(error, body);
    }
  }

  #closed(session: LegacySession): void {
    if (this.#sessions.delete(session.clientId)) this.#endpoint.forget(session.clientId);
  }

  #sweep(): void {
    const tooLong = this.#options.now() - this.#options.idleMs;
    for (const session of this.#sessions.values()) {
      if (session.idleSince !== null && session.idleSince < tooLong) void session.close();
    }
  }

  /** Closes an idle session of the user with the most sessions; false if all of theirs are in use. */
  #closeIdlest({ user }: Principal): boolean {
    const byUser = Map.groupBy(this.#sessions.values(), (session) => session.who.user);
    const most = [...byUser].reduce((a, b) => (b[1].length > a[1].length ? b : a));
    // A user with as many sessions as anyone else loses one of their own.
    const crowd = (byUser.get(user)?.length ?? 0) >= most[1].length ? byUser.get(user)! : most[1];
    const idle = crowd.filter((session) => session.idleSince !== null);
    const idlest = idle.sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0))[0];
    void idlest?.close();
    return idlest !== undefined;
  }
}

export interface LegacySessionOptions {
  readonly endpoint: Endpoint;
  readonly serverInfo: ServerInfo;
  readonly who: Principal;
  readonly now: () => number;
  onOpen(session: LegacySession): void;
  onClose(session: LegacySession): void;
  onError(error: Error): void;
}

/**
 * One client of the 2025-11-25 era: a handshake, a session id, and requests to the client on its own streams.
 */
export class LegacySession implements ClientChannel {
  readonly clientId = randomUUID();
  readonly logLevel = null;
  readonly #options: LegacySessionOptions;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #server: Server;
  readonly #running = new Map<RequestId, CallContext>();
  readonly #begun = new Map<Request | undefined, BegunCall>();
  /** As it was with the last request: what a key may do can change during a session. */
  #who: Principal;
  #streams = 0;
  #usedAt: number;

  constructor(options: LegacySessionOptions) {
    this.#options = options;
    this.#who = options.who;
    this.#usedAt = options.now();
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.clientId,
      eventStore: new RecentEvents(),
      retryInterval: DEFAULTS.retryMs,
      onsessioninitialized: () => options.onOpen(this),
    });
    this.#server = rawServer(options.serverInfo, {
      onRequest: (method, params, context) => {
        const request = context.http?.req;
        const begun = this.#begun.get(request);
        this.#begun.delete(request);
        return begun ? begun.goOn(context) : this.#handle(method, params, context);
      },
      onNotification: (method, params) => options.endpoint.hear(method, params, this.#who),
    });
    this.#server.onerror = options.onError;
    this.#server.onclose = () => {
      for (const begun of this.#begun.values()) begun.cancel();
      options.onClose(this);
    };
  }

  async open(): Promise<void> {
    await this.#server.connect(this.#transport);
  }

  isOf(who: Principal): boolean {
    return isSameCaller(this.#who, who);
  }

  get who(): Principal {
    return this.#who;
  }

  /** Since when it has been idle; null while in use. */
  get idleSince(): number | null {
    return this.#running.size > 0 || this.#streams > 0 ? null : this.#usedAt;
  }

  async call(request: Request, call: PlainCall, who: Principal): Promise<Response> {
    this.#who = who;
    const begun = new BegunCall(request, call, ({ method, params }, context) =>
      this.#handle(method, params, context),
    );
    this.#begun.set(request, begun);
    const answer = await begun.promptAnswer(this.clientId);
    if (!answer) return await this.fetch(request, call, who);
    this.#begun.delete(request);
    return answer;
  }

  async fetch(request: Request, body: unknown, who: Principal): Promise<Response> {
    this.#who = who;
    this.#usedAt = this.#options.now();
    this.#cancelBegun(body);
    const response = await this.#transport.handleRequest(request, { parsedBody: body });
    if (request.method !== 'GET' || !response.ok) return response;
    this.#streams += 1;
    let open = true;
    return whenEnded(response, () => {
      if (open) this.#streams -= 1;
      open = false;
      this.#usedAt = this.#options.now();
    });
  }

  /** The SDK knows a call only when it has a stream. */
  #cancelBegun(body: unknown): void {
    const { method, params } = (body ?? {}) as { method?: unknown; params?: JsonObject };
    if (method !== 'notifications/cancelled') return;
    for (const begun of this.#begun.values()) if (begun.id === params?.requestId) begun.cancel();
  }

  /** On the stream of an open request, which is certain to be read; otherwise on the session's own. */
  tell(method: string, params: JsonObject): void {
    const running = [...this.#running.values()].at(-1);
    const sent = running
      ? running.mcpReq.notify({ method, params })
      : this.#server.notification({ method, params });
    sent.catch(this.#options.onError);
  }

  async close(): Promise<void> {
    await this.#server.close();
  }

  async #handle(method: string, sent: JsonObject | undefined, context: CallContext): Promise<JsonObject> {
    const { id, signal } = context.mcpReq;
    const { params, meta, progressToken, trace } = readParams(sent);
    const onProgress = (progress: UpstreamProgress) => {
      if (progressToken === undefined) return;
      const told = { ...progress, progressToken };
      context.mcpReq.notify({ method: 'notifications/progress', params: told }).catch(() => {});
    };
    const { who } = this;
    const sessionId = namedClient(context.http?.req, who) ?? this.clientId;
    const caller: RequestCaller = {
      sessionId,
      client: this.#client(context),
      signal,
      onProgress,
      who,
      ...(trace && { trace }),
    };
    this.#running.set(id, context);
    signal.addEventListener('abort', () => this.#endStream(id), { once: true });
    try {
      const request = { method, params, meta, retry: {}, modern: false, logLevel: null, caller };
      return await this.#options.endpoint.handle(request);
    } finally {
      this.#running.delete(id);
      this.#usedAt = this.#options.now();
    }
  }

  /**
   * The SDK sends no response to a cancelled request, and only a response ends its stream. Clients ignore
   * responses they no longer wait for.
   */
  #endStream(id: RequestId): void {
    const error = { code: CANCELLED, message: 'The request was cancelled' };
    this.#transport.send({ jsonrpc: '2.0', id, error }).catch(() => {});
  }

  #client({ mcpReq }: CallContext): UpstreamClient {
    const capabilities = (this.#server.getClientCapabilities() ?? {}) as JsonObject;
    const info = this.#server.getClientVersion() as JsonObject | undefined;
    return {
      id: this.clientId,
      capabilities,
      ...(info && { info }),
      ask: async (method, params, signal) => {
        const refusal = cannotAsk(capabilities, method, params);
        if (refusal) throw new ProtocolError(RPC.methodNotFound, refusal);
        const asked = { method, params: method === 'elicitation/create' ? identified(params) : params };
        return await mcpReq.send(asked, UNTOUCHED, { signal, timeout: DEFAULTS.askMs });
      },
    };
  }
}

/** URL elicitations have an id in this era; servers of the next era send none. */
function identified(params: JsonObject): JsonObject {
  if (params.mode !== 'url' || params.elicitationId !== undefined) return params;
  return { ...params, elicitationId: randomUUID() };
}

/** What a request of this era can do besides answering. */
interface CallContext {
  readonly mcpReq: Pick<ServerContext['mcpReq'], 'id' | 'signal' | 'notify' | 'send'>;
  readonly http?: { readonly req?: Request };
}

export type PlainCall = JSONRPCRequest & { readonly params: JsonObject };

type Begin = (call: PlainCall, context: CallContext) => Promise<JsonObject>;

/**
 * A call that has begun before it is known how it is answered: at once and with nothing said before, by a plain response;
 * else on a stream, which can be picked up again. A stream costs both sides as much as the whole rest of a short call.
 */
class BegunCall {
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

/** As this era has it: what is missing is an invalid parameter. */
function legacyError(thrown: unknown): JsonObject {
  const error = rpcShape(thrown);
  return error.code === ProtocolErrorCode.ResourceNotFound
    ? { ...error, code: ProtocolErrorCode.InvalidParams }
    : error;
}

/**
 * The message as a call of this era that needs no further check; null for all others, such as those that ask for a task or
 * that the SDK would refuse.
 */
export function asPlainCall({ headers }: Request, message: unknown): PlainCall | null {
  const { jsonrpc, id, method, params, ...more } = (message ?? {}) as Partial<PlainCall>;
  if (method !== 'tools/call' || jsonrpc !== '2.0' || Object.keys(more).length > 0) return null;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return null;
  const { name, arguments: _, _meta: meta = {}, ...rest } = params ?? {};
  if (typeof name !== 'string' || Object.keys(rest).length > 0 || !isPlainMeta(meta)) return null;
  const accept = headers.get('accept');
  if (!accept?.includes('application/json') || !accept.includes('text/event-stream')) return null;
  const version = headers.get('mcp-protocol-version');
  const isServed = version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version);
  return isServed ? (message as PlainCall) : null;
}

const OF_THE_PROTOCOL = 'io.modelcontextprotocol/';

function isPlainMeta(meta: unknown): boolean {
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return false;
  const { progressToken } = meta as JsonObject;
  const isToken = progressToken === undefined || ['string', 'number'].includes(typeof progressToken);
  return isToken && Object.keys(meta).every((key) => !key.startsWith(OF_THE_PROTOCOL));
}
