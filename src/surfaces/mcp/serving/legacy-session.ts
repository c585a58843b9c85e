import { randomUUID } from 'node:crypto';
import {
  type EventId,
  type EventStore,
  type JSONRPCMessage,
  ProtocolError,
  type RequestId,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
  type StreamId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { JsonObject, UpstreamClient, UpstreamProgress } from '../../../engine/ports.ts';
import { cannotAsk } from '../client-capability.ts';
import type { Endpoint, RequestCaller, ServerInfo } from '../endpoint.ts';
import { RPC } from '../rpc-error.ts';
import { namedClient, rawServer, readParams } from './raw-server.ts';
import type { ClientChannel } from './served-endpoint.ts';
import { whenEnded } from './when-ended.ts';

const DEFAULTS = {
  /** How long a person may take to answer. */
  askMs: 10 * 60_000,
  /** When a client that lost its connection is to come back. */
  retryMs: 500,
  events: 50,
  /** Characters of content beyond which a message is not kept: losing one is better than keeping fifty. */
  chars: 256 * 1024,
};
const CANCELLED = -32800;
const UNTOUCHED: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'pml', validate: (value) => ({ value: value as JsonObject }) },
};

export interface LegacySessionOptions {
  readonly endpoint: Endpoint;
  readonly serverInfo: ServerInfo;
  readonly who: Principal;
  readonly now: () => number;
  onOpen(session: LegacySession): void;
  onClose(session: LegacySession): void;
  onError(error: Error): void;
}

/** One client of the 2025-11-25 era: a handshake, a session id, and questions to it on its own streams. */
export class LegacySession implements ClientChannel {
  readonly clientId = randomUUID();
  readonly user: string;
  readonly logLevel = null;
  readonly #options: LegacySessionOptions;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #server: Server;
  readonly #running = new Map<RequestId, ServerContext>();
  #streams = 0;
  #usedAt: number;

  constructor(options: LegacySessionOptions) {
    this.#options = options;
    this.user = options.who.user;
    this.#usedAt = options.now();
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => this.clientId,
      eventStore: new RecentEvents(),
      retryInterval: DEFAULTS.retryMs,
      onsessioninitialized: () => options.onOpen(this),
    });
    this.#server = rawServer(options.serverInfo, {
      onRequest: (method, params, context) => this.#handle(method, params, context),
      onNotification: (method, params) => options.endpoint.hear(method, params, options.who),
    });
    this.#server.onerror = options.onError;
    this.#server.onclose = () => options.onClose(this);
  }

  async open(): Promise<void> {
    await this.#server.connect(this.#transport);
  }

  isOf({ keyId }: Principal): boolean {
    return this.#options.who.keyId === keyId;
  }

  /** Since when nobody has used it; null while somebody does. */
  get idleSince(): number | null {
    return this.#running.size > 0 || this.#streams > 0 ? null : this.#usedAt;
  }

  async fetch(request: Request, body: unknown): Promise<Response> {
    this.#usedAt = this.#options.now();
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

  /** On the stream of a request under way, which is sure to be read; else on the session's own. */
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

  async #handle(method: string, sent: JsonObject | undefined, context: ServerContext): Promise<JsonObject> {
    const { id, signal } = context.mcpReq;
    const { params, meta, progressToken } = readParams(sent);
    const onProgress = (progress: UpstreamProgress) => {
      if (progressToken === undefined) return;
      const told = { ...progress, progressToken };
      context.mcpReq.notify({ method: 'notifications/progress', params: told }).catch(() => {});
    };
    const { who } = this.#options;
    const sessionId = namedClient(context.http?.req, who) ?? this.clientId;
    const caller: RequestCaller = { sessionId, client: this.#client(context), signal, onProgress, who };
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
   * The SDK does not answer a cancelled request, and only an answer ends its stream. Clients ignore one
   * they no longer wait for.
   */
  #endStream(id: RequestId): void {
    const error = { code: CANCELLED, message: 'The request was cancelled' };
    this.#transport.send({ jsonrpc: '2.0', id, error }).catch(() => {});
  }

  #client({ mcpReq }: ServerContext): UpstreamClient {
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

/** A question by URL has an id in this era; servers of the next one give none. */
function identified(params: JsonObject): JsonObject {
  if (params.mode !== 'url' || params.elicitationId !== undefined) return params;
  return { ...params, elicitationId: randomUUID() };
}

interface KeptEvent {
  readonly id: EventId;
  readonly streamId: StreamId;
  /** Null for one that is too large to be kept. */
  readonly message: JSONRPCMessage | null;
}

/** What a session was told last, for a client that lost its connection and comes back for the rest. */
export class RecentEvents implements EventStore {
  #events: KeptEvent[] = [];
  #last = 0;

  async storeEvent(streamId: StreamId, message: JSONRPCMessage): Promise<EventId> {
    const id = String(++this.#last);
    this.#events.push({ id, streamId, message: isLarge(message) ? null : message });
    if (this.#events.length > DEFAULTS.events) this.#events.shift();
    return id;
  }

  async getStreamIdForEventId(eventId: EventId): Promise<StreamId | undefined> {
    return this.#events.find(({ id }) => id === eventId)?.streamId;
  }

  async replayEventsAfter(
    lastEventId: EventId,
    { send }: { send: (eventId: EventId, message: JSONRPCMessage) => Promise<void> },
  ): Promise<StreamId> {
    const at = this.#events.findIndex(({ id }) => id === lastEventId);
    const streamId = this.#events[at]?.streamId;
    if (streamId === undefined) throw new Error(`Event ${lastEventId} is not kept any more`);
    for (const { id, streamId: stream, message } of this.#events.slice(at + 1)) {
      if (stream === streamId && message) await send(id, message);
    }
    return streamId;
  }
}

/** By its content alone: nothing else grows large. */
function isLarge(message: JSONRPCMessage): boolean {
  const content = 'result' in message ? message.result.content : undefined;
  if (!Array.isArray(content)) return false;
  const chars = content.map(({ text, data }) => String(text ?? data ?? '').length);
  return chars.reduce((sum, size) => sum + size, 0) > DEFAULTS.chars;
}
