import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { CLIENT_HEADER } from '../../core/vocabulary/principal.ts';

const DEFAULTS = {
  /** On one machine a stream only ends when the gateway does. */
  streamRetry: {
    initialReconnectionDelay: 0,
    maxReconnectionDelay: 0,
    reconnectionDelayGrowFactor: 1,
    maxRetries: 0,
  },
  /** Milliseconds to end the session when disconnecting. */
  farewellMs: 1_000,
};

/** The gateway: another process on this machine, or this one, with a `fetch` that calls it directly. */
export interface GatewayTarget {
  readonly url: string | URL;
  /** For example the token. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  /** Of a gateway in this process. */
  readonly call?: DirectCall;
}

/**
 * Makes a call in an open session as a function call: a request over HTTP costs more than all the rest of a short call. Null
 * where the message has to be sent as a request; the answer is null where the session ended first.
 */
export type DirectCall = (
  message: JSONRPCRequest,
  from: {
    readonly session: string;
    readonly client: string;
    /** Gets what the call says before its answer. */
    say(message: JSONRPCMessage): void;
  },
) => Promise<JSONRPCMessage | null> | null;

export interface GatewayLinkListener {
  onMessage(message: JSONRPCMessage): void;
  /** The stream of a request has ended, with or without a response. */
  onStreamEnd(id: RequestId): void;
  /** The gateway no longer responds. */
  onLost(): void;
  onError(error: Error): void;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type Sent =
  | { readonly kind: 'accepted' }
  /** The gateway's own error for this message. */
  | { readonly kind: 'refused'; readonly error: RpcError }
  /** `unseen`: the gateway cannot have received it. */
  | { readonly kind: 'lost'; readonly unseen: boolean };

/** One connection to a gateway. Messages of both protocol eras pass unchanged. */
export class GatewayLink {
  readonly #transport: StreamableHTTPClientTransport;
  readonly #call: DirectCall | undefined;
  readonly #client: string;
  readonly #listener: GatewayLinkListener;
  readonly #replies = new Map<RequestId, (message: JSONRPCMessage | null) => void>();
  #closed = false;

  constructor(target: GatewayTarget, client: string, listener: GatewayLinkListener) {
    this.#listener = listener;
    this.#call = target.call;
    this.#client = client;
    this.#transport = new StreamableHTTPClientTransport(new URL(target.url), {
      requestInit: { headers: { ...target.headers, [CLIENT_HEADER]: client } },
      fetch: target.fetch ?? createLoopbackFetch(),
      reconnectionOptions: DEFAULTS.streamRetry,
    });
    this.#transport.onmessage = (message) => this.#receive(message);
    this.#transport.onerror = (error) => this.#onError(error);
  }

  async open(): Promise<void> {
    await this.#transport.start();
  }

  set protocolVersion(version: string) {
    this.#transport.setProtocolVersion(version);
  }

  /** Resolves when the gateway has accepted the message; responses go to the listener. */
  async send(message: JSONRPCMessage, signal?: AbortSignal): Promise<Sent> {
    if (this.#closed) return { kind: 'lost', unseen: true };
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if (id !== undefined && this.#callDirectly(message as JSONRPCRequest)) return { kind: 'accepted' };
    try {
      await this.#transport.send(message, {
        ...(signal && { requestSignal: signal }),
        ...(id !== undefined && { onRequestStreamEnd: () => this.#streamEnded(id) }),
      });
      return { kind: 'accepted' };
    } catch (error) {
      return outcomeOf(error, id);
    }
  }

  /** False if it has to be sent. */
  #callDirectly(message: JSONRPCRequest): boolean {
    const { sessionId: session } = this.#transport;
    if (session === undefined) return false;
    const say = (said: JSONRPCMessage) => this.#receive(said);
    const answer = this.#call?.(message, { session, client: this.#client, say });
    void answer?.then((told) => (told ? this.#receive(told) : this.#streamEnded(message.id)));
    return Boolean(answer);
  }

  /** Sends a request of our own; null if it got no response. */
  async request(message: JSONRPCRequest): Promise<JSONRPCMessage | null> {
    const reply = new Promise<JSONRPCMessage | null>((resolve) => this.#replies.set(message.id, resolve));
    const sent = await this.send(message);
    if (sent.kind !== 'accepted') this.#replies.get(message.id)?.(null);
    return await reply.finally(() => this.#replies.delete(message.id));
  }

  /** Ends the session, so that the gateway need not keep it until it has been idle for long. */
  async end(): Promise<void> {
    const patience = new Promise<void>((resolve) => setTimeout(resolve, DEFAULTS.farewellMs).unref());
    await Promise.race([this.#transport.terminateSession().catch(() => {}), patience]);
    await this.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const reply of this.#replies.values()) reply(null);
    await this.#transport.close();
  }

  #receive(message: JSONRPCMessage): void {
    if (this.#closed) return;
    const reply =
      'id' in message && !('method' in message) ? this.#replies.get(message.id as RequestId) : undefined;
    if (reply) reply(message);
    else this.#listener.onMessage(message);
  }

  #streamEnded(id: RequestId): void {
    if (this.#closed) return;
    const reply = this.#replies.get(id);
    if (reply) reply(null);
    else this.#listener.onStreamEnd(id);
  }

  #onError(error: Error): void {
    if (this.#closed) return;
    if (error.message.startsWith('Maximum reconnection attempts')) this.#listener.onLost();
    else this.#listener.onError(error);
  }
}

function outcomeOf(error: unknown, id: RequestId | undefined): Sent {
  if (error instanceof SdkHttpError) {
    const own = rpcErrorIn(error, id);
    if (own) return { kind: 'refused', error: own };
    // The gateway does not know the session: another process, or the session has expired.
    if (error.status === 404) return { kind: 'lost', unseen: true };
    // The gateway is stopping and accepts no more requests.
    if (error.status === 503 && String(error.data?.text).includes('"stopping"'))
      return { kind: 'lost', unseen: true };
    return {
      kind: 'refused',
      error: { code: -32603, message: `The gateway responded with HTTP ${error.status}` },
    };
  }
  return { kind: 'lost', unseen: isUnseen(error) };
}

function rpcErrorIn({ data }: SdkHttpError, id: RequestId | undefined) {
  try {
    const { id: answered, error } = JSON.parse(String(data?.text));
    return answered !== null && answered === id ? error : null;
  } catch {
    return null;
  }
}

function isUnseen(error: unknown): boolean {
  if (error instanceof UnseenError) return true;
  return error instanceof Error && error.cause !== undefined && isUnseen(error.cause);
}

/** Statuses without a body. */
const EMPTY = new Set([101, 204, 205, 304]);

/**
 * `fetch` to another process on this machine. It distinguishes requests that cannot have arrived
 * (`UnseenError`) from those that may have, and has no timeout: a call may be slow.
 */
function createLoopbackFetch(): typeof fetch {
  const agent = new Agent({ keepAlive: true });
  return async (input, init = {}) => {
    const { hostname, port, pathname, search } = new URL(String(input));
    const { method = 'GET', body, signal } = init;
    const options = {
      agent,
      hostname,
      port,
      path: `${pathname}${search}`,
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(signal && { signal }),
    };
    const reply = await (typeof body === 'string'
      ? expectantRequest({ ...options, body: Buffer.from(body) })
      : bareRequest(options));
    const pairs = Object.entries(reply.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const status = reply.statusCode ?? 0;
    if (EMPTY.has(status)) reply.resume();
    const content = EMPTY.has(status)
      ? null
      : (Readable.toWeb(reply) as NodeStream<Uint8Array> as ReadableStream);
    return new Response(content, { status, headers: new Headers(pairs) });
  };
}

async function bareRequest(options: RequestOptions): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    request(options, resolve).on('error', reject).end();
  });
}

/** The other side cannot have received the request: no part of its body was sent. */
export class UnseenError extends Error {
  override readonly name = 'UnseenError';
}

interface ExpectantRequest extends RequestOptions {
  readonly body: Buffer;
}

/**
 * Sends the body only after the other side has said "100 Continue": a request that fails before that cannot
 * have taken effect and may be sent elsewhere; one that fails after it may have.
 */
export async function expectantRequest({ body, ...options }: ExpectantRequest): Promise<IncomingMessage> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    let isSent = false;
    const headers = { ...options.headers, 'content-length': body.length, expect: '100-continue' };
    const asked = request({ ...options, headers });
    asked.on('continue', () => {
      isSent = true;
      // From here on it is working, for as long as that takes; if it dies, the socket ends.
      asked.setTimeout(0);
      asked.end(body);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no response for ${options.timeout} ms`)));
    asked.on('response', resolve);
    asked.on('error', (error) => {
      if (isSent) reject(error);
      // The other side may close a reused connection just as we use it, so that failure means nothing: try
      // again.
      else if (asked.reusedSocket) resolve(expectantRequest({ body, ...options }));
      else reject(new UnseenError(error.message, { cause: error }));
    });
    asked.flushHeaders();
  });
}
