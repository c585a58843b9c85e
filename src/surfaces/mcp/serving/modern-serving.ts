import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  type McpHttpHandler,
  type ServerContext,
  type ServerEvent,
} from '@modelcontextprotocol/server';
import type { JsonObject, UpstreamClient } from '../../../engine/ports.ts';
import type { Endpoint, Face } from '../endpoint.ts';
import { HeldCall, type Waiting } from './held-call.ts';
import { HeldCalls } from './held-calls.ts';
import { rawServer } from './raw-server.ts';
import { namedClient, type RequestParts, readParams } from './read-params.ts';
import { thrownResponse } from './rpc-response.ts';
import type { Outlet } from './served-endpoint.ts';
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

/** Serves the 2026-07-28 era: no sessions, each request on its own. */
export class ModernServing {
  readonly #endpoint: Endpoint;
  readonly #handler: McpHttpHandler;
  readonly #held: HeldCalls;
  readonly #requests = new Map<string, Outlet>();
  /** What the handler's factory has to know of a request; it is given the request alone. */
  readonly #incoming = new WeakMap<Request, { face: Face; message: Message }>();

  constructor(endpoint: Endpoint, { onError, holdMs }: ModernOptions) {
    this.#endpoint = endpoint;
    this.#held = new HeldCalls(holdMs);
    this.#handler = createMcpHandler(({ requestInfo }) => this.#serverFor(requestInfo as Request), {
      legacy: 'reject',
      onerror: onError,
    });
  }

  requests(): Iterable<Outlet> {
    return this.#requests.values();
  }

  publish(event: ServerEvent): void {
    this.#handler.bus.publish(event);
  }

  async fetch(request: Request, body: unknown): Promise<Response> {
    const message = (body ?? {}) as Message;
    try {
      const face = await this.#endpoint.face();
      this.#incoming.set(request, { face, message });
      if (message.method === 'subscriptions/listen') return await this.#listen(request, message);
      return await this.#handler.fetch(request, { parsedBody: body });
    } catch (error) {
      return thrownResponse(error, body);
    }
  }

  async close(): Promise<void> {
    this.#held.close();
    await this.#handler.close();
  }

  #serverFor(request: Request) {
    const { face, message } = this.#incoming.get(request)!;
    return rawServer(face, {
      onRequest: (_method, _params, context) => this.#handle(message, context, namedClient(request)),
      onNotification: (method, params) => this.#endpoint.hear(method, params),
    });
  }

  async #handle(message: Message, context: ServerContext, sessionId: string | null): Promise<JsonObject> {
    const parts = readParams(message.params);
    const held = await this.#held.find(parts.retry.requestState, context);
    const call = held ?? this.#start(context.mcpReq.method, parts, sessionId);
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
    this.#requests.set(call.id, { clientId: call.id, logLevel: parts.logLevel, tell });
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

  #start(method: string, parts: RequestParts, sessionId: string | null): HeldCall {
    const { params, meta, retry, logLevel, capabilities, clientInfo: info } = parts;
    const mayAsk = MAY_ASK.has(method);
    const call = new HeldCall({ id: randomUUID(), sessionId, capabilities, info, mayAsk });
    call.start((caller) =>
      this.#endpoint.handle({ method, params, meta, retry, modern: true, logLevel, caller }),
    );
    return call;
  }

  /** The stream itself is the handler's; what it carries has to be asked for further up. */
  async #listen(request: Request, message: Message): Promise<Response> {
    const { capabilities, clientInfo } = readParams(message.params);
    const filter = (message.params?.notifications ?? {}) as JsonObject;
    const wanted = (filter.resourceSubscriptions ?? []) as readonly string[];
    const client: UpstreamClient = {
      id: randomUUID(),
      capabilities,
      ...(clientInfo && { info: clientInfo }),
      ask: () => Promise.reject(new Error('a listening client cannot be asked')),
    };
    const uris = wanted.length === 0 ? [] : await this.#endpoint.watch(client, wanted);
    const notifications = { ...filter, ...(wanted.length > 0 && { resourceSubscriptions: uris }) };
    const parsedBody = { ...message, params: { ...message.params, notifications } };
    const response = await this.#handler.fetch(request, { parsedBody });
    return whenEnded(response, () => this.#endpoint.forget(client.id));
  }
}
