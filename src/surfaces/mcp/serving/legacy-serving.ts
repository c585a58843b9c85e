import { randomUUID } from 'node:crypto';
import {
  type JSONRPCMessage,
  ProtocolError,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
  type WebStandardStreamableHTTPServerTransportOptions,
} from '@modelcontextprotocol/server';
import { CLIENT_HEADER, type Principal } from '../../../core/vocabulary/principal.ts';
import { isSameCaller } from '../../../engine/people/roles.ts';
import type { JsonObject, UpstreamClient, UpstreamProgress } from '../../../engine/ports.ts';
import type { DirectCaller, Endpoint, RequestCaller, ServerInfo } from '../endpoint.ts';
import { type ClientChannel, whenEnded } from '../endpoint.ts';
import { RPC, rpcResponse, thrownResponse } from '../rpc-error.ts';
import { cannotAsk, namedClient, rawServer, readParams, UNTOUCHED } from './raw-server.ts';
import { RecentEvents } from './recent-events.ts';
import { answerOf, BegunCall, type CallContext, type PlainCall } from './short-calls.ts';

const DEFAULTS = {
  sessions: 256,
  /** Milliseconds without a call or a listening client after which a session ends. */
  idleMs: 30 * 60_000,
  sweepMs: 60_000,
  /** Milliseconds a person has to answer. */
  askMs: 10 * 60_000,
  /** Milliseconds before a disconnected client should reconnect. */
  retryMs: 500,
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

  /** The same for a call from within this process; its answer is null where the session ends first. */
  callDirectly(call: PlainCall, from: DirectCaller): Promise<JSONRPCMessage | null> | null {
    const session = this.#sessions.get(from.session);
    return session?.isOf(from.who) ? session.callDirectly(call, from) : null;
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

interface OpenDirectCall extends Pick<DirectCaller, 'say'> {
  cancel(): void;
  /** Without an answer. */
  end(): void;
}

/** What belongs to a direct call goes to its caller instead of a stream. */
class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #direct: ReadonlyMap<RequestId, OpenDirectCall>;

  constructor(
    options: WebStandardStreamableHTTPServerTransportOptions,
    direct: ReadonlyMap<RequestId, OpenDirectCall>,
  ) {
    super(options);
    this.#direct = direct;
  }

  override async send(
    message: JSONRPCMessage,
    options?: { readonly relatedRequestId?: RequestId },
  ): Promise<void> {
    const id = options?.relatedRequestId;
    const direct = id === undefined ? undefined : this.#direct.get(id);
    if (direct) direct.say(message);
    else await super.send(message, options);
  }
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
  readonly #direct = new Map<RequestId, OpenDirectCall>();
  /** As it was with the last request: what a key may do can change during a session. */
  #who: Principal;
  #streams = 0;
  #usedAt: number;

  constructor(options: LegacySessionOptions) {
    this.#options = options;
    this.#who = options.who;
    this.#usedAt = options.now();
    const inSession = {
      sessionIdGenerator: () => this.clientId,
      eventStore: new RecentEvents(),
      retryInterval: DEFAULTS.retryMs,
      onsessioninitialized: () => options.onOpen(this),
    };
    this.#transport = new SessionTransport(inSession, this.#direct);
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
      for (const direct of this.#direct.values()) direct.end();
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

  /** Null where the session cannot tell it from another one that is under way. */
  callDirectly(call: PlainCall, { who, client, say }: DirectCaller): Promise<JSONRPCMessage | null> | null {
    const { id, method, params } = call;
    if (this.#direct.has(id) || this.#running.has(id)) return null;
    this.#who = who;
    const cancelled = new AbortController();
    const { promise: ended, resolve } = Promise.withResolvers<null>();
    const cancel = () => cancelled.abort();
    const end = () => {
      cancel();
      resolve(null);
    };
    this.#direct.set(id, { say, cancel, end });
    const related = { relatedRequestId: id };
    const mcpReq = {
      id,
      signal: cancelled.signal,
      notify: (said) => this.#server.notification(said, related),
      send: (asked: Parameters<Server['request']>[0], schema: typeof UNTOUCHED, options: object) =>
        this.#server.request(asked, schema, { ...options, ...related }),
    } as CallContext['mcpReq'];
    const answer = answerOf(id, this.#handle(method, params, { mcpReq, clientName: client }));
    return Promise.race([answer, ended]).finally(() => this.#direct.delete(id));
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
    this.#direct.get(params?.requestId as RequestId)?.cancel();
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
    const name = context.clientName ?? context.http?.req?.headers.get(CLIENT_HEADER);
    const sessionId = namedClient(name, who) ?? this.clientId;
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
