import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  createRequestStateCodec,
  type McpHttpHandler,
  ProtocolError,
  type ServerContext,
  type ServerEvent,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import { CLIENT_HEADER, type Principal } from '../../../core/vocabulary/principal.ts';
import type { JsonObject, UpstreamClient } from '../../../engine/ports.ts';
import type { Endpoint, RequestCaller, ServerInfo } from '../endpoint.ts';
import { type ClientChannel, whenEnded } from '../endpoint.ts';
import { RPC, thrownResponse } from '../rpc-error.ts';
import { HeldCall, type Waiting } from './held-call.ts';
import {
  HeaderCheckingServer,
  namedClient,
  type RawHandlers,
  type RequestParts,
  rawServer,
  readParams,
} from './raw-server.ts';

const DEFAULTS = {
  /** Milliseconds a person has to answer. */
  holdMs: 10 * 60_000,
  calls: 1_000,
};

/** Requests that may be answered with questions. */
const MAY_ASK = new Set(['tools/call', 'prompts/get', 'resources/read']);

export interface ModernOptions {
  readonly onError: (error: Error) => void;
  readonly holdMs?: number;
}

interface Message {
  readonly method?: string;
  readonly params?: JsonObject;
}

interface Incoming {
  readonly serverInfo: ServerInfo;
  readonly message: Message;
  /** Input schema of the called tool, if HTTP headers mirror its arguments. */
  readonly schema: JsonObject | null;
  readonly who: Principal;
  isUnknownMethod: boolean;
}

/** Serves the 2026-07-28 era: no sessions, each request is independent. */
export class ModernServing {
  readonly #endpoint: Endpoint;
  readonly #handler: McpHttpHandler;
  readonly #bus: UserBus;
  readonly #held: HeldCalls;
  readonly #requests = new Map<string, ClientChannel>();
  /** Context of a request for the handler's factory, which only receives the request. */
  readonly #incoming = new WeakMap<Request, Incoming>();

  constructor(endpoint: Endpoint, { onError, holdMs }: ModernOptions) {
    this.#endpoint = endpoint;
    this.#held = new HeldCalls(holdMs);
    this.#bus = new UserBus(onError);
    this.#handler = createMcpHandler(({ requestInfo }) => this.#serverFor(requestInfo as Request), {
      legacy: 'reject',
      bus: this.#bus,
      onerror: onError,
    });
  }

  requests(): Iterable<ClientChannel> {
    return this.#requests.values();
  }

  publish(event: ServerEvent, user: string | null): void {
    this.#bus.publish(event, user);
  }

  async fetch(request: Request, body: unknown, who: Principal): Promise<Response> {
    const message = (body ?? {}) as Message;
    try {
      const { method, params } = message;
      const serverInfo = await this.#endpoint.serverInfo(who, true);
      const schema =
        method === 'tools/call' ? await this.#endpoint.mirroredSchema(String(params?.name), who) : null;
      const incoming: Incoming = { serverInfo, message, schema, who, isUnknownMethod: false };
      this.#incoming.set(request, incoming);
      if (method === 'subscriptions/listen') return await this.#listen(request, message, who);
      const response = await this.#handler.fetch(request, { parsedBody: body });
      // The SDK does not know that our response means an unknown method, which over HTTP is a status.
      return incoming.isUnknownMethod
        ? new Response(response.body, { status: 404, headers: response.headers })
        : response;
    } catch (error) {
      return thrownResponse(error, body);
    }
  }

  async close(): Promise<void> {
    this.#held.close();
    await this.#handler.close();
  }

  #serverFor(request: Request) {
    const incoming = this.#incoming.get(request)!;
    const handlers: RawHandlers = {
      onRequest: (method, _params, context) =>
        this.#handle(incoming, context, namedClient(request.headers.get(CLIENT_HEADER), incoming.who)).catch(
          (error) => {
            incoming.isUnknownMethod = error.code === RPC.methodNotFound && method !== 'tools/call';
            throw error;
          },
        ),
      onNotification: (method, params) => this.#endpoint.hear(method, params, incoming.who),
    };
    const { serverInfo, schema } = incoming;
    return schema ? new HeaderCheckingServer(serverInfo, handlers, schema) : rawServer(serverInfo, handlers);
  }

  async #handle(
    { message, who }: Incoming,
    context: ServerContext,
    sessionId: string | null,
  ): Promise<JsonObject> {
    const parts = readParams(message.params);
    const held = await this.#held.find(parts.retry.requestState, context, who);
    const call = held ?? this.#start(context.mcpReq.method, parts, { sessionId, who });
    const tell = (method: string, params: JsonObject) => {
      // A request whose client has disconnected gets nothing more.
      context.mcpReq.notify({ method, params }).catch(() => {});
    };
    const waiting: Waiting = {
      signal: context.mcpReq.signal,
      onProgress: (progress) => {
        const { progressToken } = parts;
        if (progressToken !== undefined) tell('notifications/progress', { ...progress, progressToken });
      },
    };
    this.#requests.set(call.id, { clientId: call.id, who, logLevel: parts.logLevel, tell });
    try {
      return await this.#held.answer(
        call,
        waiting,
        context,
        held ? context.mcpReq.inputResponses : undefined,
      );
    } finally {
      this.#requests.delete(call.id);
    }
  }

  #start(method: string, parts: RequestParts, from: Pick<RequestCaller, 'sessionId' | 'who'>): HeldCall {
    const { params, meta, retry, logLevel, capabilities, clientInfo: info, trace } = parts;
    const mayAsk = MAY_ASK.has(method);
    const call = new HeldCall({ id: randomUUID(), ...from, capabilities, info, mayAsk, trace });
    call.start((caller) =>
      this.#endpoint.handle({ method, params, meta, retry, modern: true, logLevel, caller }),
    );
    return call;
  }

  /** The handler owns the stream; its subscriptions must be made upstream. */
  async #listen(request: Request, message: Message, who: Principal): Promise<Response> {
    const { capabilities, clientInfo } = readParams(message.params);
    const filter = (message.params?.notifications ?? {}) as JsonObject;
    const wanted = (filter.resourceSubscriptions ?? []) as readonly string[];
    const client: UpstreamClient = {
      id: randomUUID(),
      capabilities,
      ...(clientInfo && { info: clientInfo }),
      ask: () => Promise.reject(new Error('a listening client cannot be asked')),
    };
    const uris = wanted.length === 0 ? [] : await this.#endpoint.watch(client, wanted, who);
    const notifications = { ...filter, ...(wanted.length > 0 && { resourceSubscriptions: uris }) };
    const parsedBody = { ...message, params: { ...message.params, notifications } };
    const response = await this.#bus.during(who.user, () => this.#handler.fetch(request, { parsedBody }));
    return whenEnded(response, () => this.#endpoint.forget(client.id));
  }
}

type Listener = (event: ServerEvent) => void;

/** Delivers events to listening clients: those of their own user and those for everybody. */
class UserBus implements ServerEventBus {
  readonly #onError: (error: Error) => void;
  readonly #users = new Map<Listener, string | undefined>();
  /** The SDK passes a listener without its user. */
  readonly #asking = new AsyncLocalStorage<string>();

  constructor(onError: (error: Error) => void) {
    this.#onError = onError;
  }

  /** Listeners added during `work` belong to this user. */
  during<T>(user: string, work: () => T): T {
    return this.#asking.run(user, work);
  }

  subscribe(listener: Listener): () => void {
    this.#users.set(listener, this.#asking.getStore());
    return () => void this.#users.delete(listener);
  }

  /** To one user's listeners, or to all if null. */
  publish(event: ServerEvent, user: string | null = null): void {
    for (const [listener, owner] of this.#users) {
      if (user !== null && user !== owner) continue;
      try {
        listener(event);
      } catch (error) {
        this.#onError(error as Error);
      }
    }
  }
}

interface State {
  readonly held: string;
}

/** Calls that wait until their client repeats its request with the answers. */
class HeldCalls {
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

  /** Waits for the call's result or questions; with questions, the call is held. */
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

  /** The held call; null if the state belongs to an upstream server. */
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
      call.cancel(new Error('too many calls are waiting for answers'));
      throw new ProtocolError(RPC.internal, 'Too many calls are waiting for answers from their clients');
    }
    const giveUp = () => {
      this.#calls.delete(call.id);
      call.cancel(new Error('nobody answered'));
    };
    this.#calls.set(call.id, { call, expiry: setTimeout(giveUp, this.#holdMs).unref() });
  }
}
