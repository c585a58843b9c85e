import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  type McpHttpHandler,
  type ServerContext,
  type ServerEvent,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { JsonObject, UpstreamClient } from '../../../engine/ports.ts';
import type { Endpoint, RequestCaller, ServerInfo } from '../endpoint.ts';
import { RPC } from '../rpc-error.ts';
import { HeldCall, type Waiting } from './held-call.ts';
import { HeldCalls } from './held-calls.ts';
import {
  HeaderCheckingServer,
  namedClient,
  type RawHandlers,
  type RequestParts,
  rawServer,
  readParams,
} from './raw-server.ts';
import { thrownResponse } from './rpc-response.ts';
import type { ClientChannel } from './served-endpoint.ts';
import { UserBus } from './user-bus.ts';
import { whenEnded } from './when-ended.ts';

/** The requests that may be answered with questions. */
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
  /** Of the tool to be called, where HTTP headers mirror its arguments. */
  readonly schema: JsonObject | null;
  readonly who: Principal;
  isUnknownMethod: boolean;
}

/** Serves the 2026-07-28 era: no sessions, each request on its own. */
export class ModernServing {
  readonly #endpoint: Endpoint;
  readonly #handler: McpHttpHandler;
  readonly #bus: UserBus;
  readonly #held: HeldCalls;
  readonly #requests = new Map<string, ClientChannel>();
  /** What the handler's factory has to know of a request; it is given the request alone. */
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
      const serverInfo = await this.#endpoint.serverInfo();
      const schema =
        method === 'tools/call' ? await this.#endpoint.mirroredSchema(String(params?.name)) : null;
      const incoming: Incoming = { serverInfo, message, schema, who, isUnknownMethod: false };
      this.#incoming.set(request, incoming);
      if (method === 'subscriptions/listen') return await this.#listen(request, message, who);
      const response = await this.#handler.fetch(request, { parsedBody: body });
      // To the SDK, what we answer is never the lack of a method; over HTTP that is a status.
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
        this.#handle(incoming, context, namedClient(request, incoming.who)).catch((error) => {
          incoming.isUnknownMethod = error.code === RPC.methodNotFound && method !== 'tools/call';
          throw error;
        }),
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
      // A request whose client went away hears nothing more.
      context.mcpReq.notify({ method, params }).catch(() => {});
    };
    const waiting: Waiting = {
      signal: context.mcpReq.signal,
      onProgress: (progress) => {
        const { progressToken } = parts;
        if (progressToken !== undefined) tell('notifications/progress', { ...progress, progressToken });
      },
    };
    this.#requests.set(call.id, { clientId: call.id, user: who.user, logLevel: parts.logLevel, tell });
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
    const { params, meta, retry, logLevel, capabilities, clientInfo: info } = parts;
    const mayAsk = MAY_ASK.has(method);
    const call = new HeldCall({ id: randomUUID(), ...from, capabilities, info, mayAsk });
    call.start((caller) =>
      this.#endpoint.handle({ method, params, meta, retry, modern: true, logLevel, caller }),
    );
    return call;
  }

  /** The stream itself is the handler's; what it carries has to be asked for further up. */
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
