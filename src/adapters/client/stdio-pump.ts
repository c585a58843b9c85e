import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { GatewayLink, type GatewayTarget, type RpcError } from './gateway-link.ts';

const DEFAULTS = {
  /** Milliseconds for the farewell to a gateway: one that hangs must not keep this process alive. */
  endMs: 5_000,
  messageBytes: 64 * 1024 * 1024,
  /** A gateway that is stopping takes a moment from its last response to releasing the data folder. */
  attempts: 100,
  pauseMs: 50,
};
const INTERNAL_ERROR = -32603;

export interface StdioPumpOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Finds the gateway, or makes this process the gateway; called again after each loss. */
  reach(): Promise<GatewayTarget>;
  onError(error: Error): void;
}

interface OpenRequest {
  readonly message: JSONRPCRequest;
  readonly controller: AbortController;
  /** The link that accepted it; null while it is being sent. */
  link: GatewayLink | null;
  /** The link on which its stream ended without a response; may be set before `link` is. */
  endedOn: GatewayLink | null;
  /** The client's subscription was acknowledged; a second acknowledgement is dropped. */
  acknowledged: boolean;
}

/**
 * Passes messages between a client on stdin and stdout and the gateway, unchanged, in both eras. Resolves
 * when stdin ends; rejects when no gateway can be reached.
 */
export function runStdioPump(options: StdioPumpOptions): Promise<void> {
  return new StdioPump(options).run();
}

class StdioPump {
  readonly #options: StdioPumpOptions;
  readonly #client: StdioServerTransport;
  readonly #name = randomUUID();
  readonly #memory = new SessionMemory();
  /** The client's open requests. */
  readonly #open = new Map<RequestId, OpenRequest>();
  /** Requests from the gateway that the client has not answered yet. */
  readonly #asked = new Set<RequestId>();
  #link: GatewayLink | null = null;
  #connecting: Promise<GatewayLink> | null = null;
  #replays = 0;
  /** The client is gone, so no new gateway is needed. */
  #ended = false;
  #fail: (error: unknown) => void = () => {};

  constructor(options: StdioPumpOptions) {
    this.#options = options;
    const { stdin, stdout } = options;
    this.#client = new StdioServerTransport(stdin, stdout, { maxBufferSize: DEFAULTS.messageBytes });
  }

  async run(): Promise<void> {
    const ended = new Promise<void>((resolve, reject) => {
      this.#client.onclose = resolve;
      this.#fail = reject;
    });
    this.#client.onerror = this.#options.onError;
    this.#client.onmessage = (message) => {
      this.#fromClient(message).catch(this.#fail);
    };
    await this.#client.start();
    try {
      await ended;
    } catch (error) {
      const { message } = error as Error;
      for (const id of this.#open.keys()) this.#answer(id, { code: INTERNAL_ERROR, message });
      throw error;
    } finally {
      this.#ended = true;
      this.#open.clear();
      const said = new AbortController();
      const enough = sleep(DEFAULTS.endMs, undefined, { signal: said.signal }).catch(() => {});
      await Promise.race([this.#sayGoodbye(), enough]);
      said.abort();
      await this.#client.close();
    }
  }

  async #sayGoodbye(): Promise<void> {
    const link = this.#link ?? (await this.#connecting?.catch(() => null));
    this.#link = null;
    await link?.end();
  }

  async #fromClient(message: JSONRPCMessage): Promise<void> {
    this.#memory.fromClient(message);
    if ('method' in message && 'id' in message) {
      const controller = new AbortController();
      const request = { message, controller, link: null, endedOn: null, acknowledged: false };
      this.#open.set(message.id, request);
      return await this.#deliver(request);
    }
    if (!('method' in message)) this.#asked.delete(message.id as RequestId);
    else if (message.method === 'notifications/cancelled' && this.#cancel(message.params?.requestId)) return;
    const link = await this.#current();
    const sent = await link.send(message);
    if (sent.kind === 'lost') this.#drop(link);
  }

  /** True when no cancel notification is needed: in the newer era, closing the request is enough. */
  #cancel(id: unknown): boolean {
    const request = this.#open.get(id as RequestId);
    this.#open.delete(id as RequestId);
    if (!request || !isModern(request.message)) return false;
    request.controller.abort();
    return true;
  }

  async #deliver(request: OpenRequest): Promise<void> {
    const { message, controller } = request;
    const isOpen = () => this.#open.get(message.id) === request;
    for (let attempt = 1; isOpen(); attempt++) {
      const link = await this.#current();
      const sent = await link.send(message, controller.signal);
      if (!isOpen()) return;
      if (sent.kind === 'refused') return this.#answer(message.id, sent.error);
      if (sent.kind === 'accepted' && link === this.#link && request.endedOn !== link) {
        request.link = link;
        return;
      }
      this.#drop(link);
      const isUnseen = sent.kind === 'lost' && sent.unseen;
      if ((!isUnseen && !isRepeatable(message)) || attempt >= DEFAULTS.attempts) {
        return this.#answer(message.id, lost());
      }
      await sleep(DEFAULTS.pauseMs);
    }
  }

  #fromGateway(message: JSONRPCMessage, link: GatewayLink): void {
    const version = this.#memory.fromGateway(message);
    if (version !== null) link.protocolVersion = version;
    if ('method' in message) {
      if ('id' in message) this.#asked.add(message.id);
      else if (this.#isSecondAcknowledgement(message)) return;
    } else if (message.id !== undefined) {
      const request = this.#open.get(message.id);
      // Nobody waits for this response; or a stopping gateway ended a subscription that the next one will
      // continue.
      if (!request || (request.acknowledged && 'result' in message)) return;
      this.#open.delete(message.id);
    }
    this.#gatherWrites();
    this.#client.send(message).catch(this.#options.onError);
  }

  /** What is said in one turn goes in one write: each costs more than all that is done for a short answer. */
  #gatherWrites(): void {
    const { stdout } = this.#options;
    if (stdout.writableCorked > 0) return;
    stdout.cork();
    process.nextTick(() => stdout.uncork());
  }

  #isSecondAcknowledgement({ method, params }: JSONRPCNotification): boolean {
    if (method !== 'notifications/subscriptions/acknowledged') return false;
    const request = this.#open.get(params?._meta?.[SUBSCRIPTION_ID_META_KEY] as RequestId);
    // A subscription without any granted notification ends at once.
    if (!request || Object.keys(params?.notifications ?? {}).length === 0) return false;
    const isSecond = request.acknowledged;
    request.acknowledged = true;
    return isSecond;
  }

  #onStreamEnd(id: RequestId, link: GatewayLink): void {
    const request = this.#open.get(id);
    if (request) request.endedOn = link;
    if (request?.link === link) this.#drop(link);
  }

  #answer(id: RequestId, error: RpcError): void {
    this.#open.delete(id);
    this.#client.send({ jsonrpc: '2.0', id, error }).catch(this.#options.onError);
  }

  /** Discards a broken link; the next request opens another. */
  #drop(link: GatewayLink): void {
    if (this.#link !== link) return;
    this.#link = null;
    void link.close();
    for (const requestId of this.#asked) {
      const params = { requestId, reason: 'the gateway process that sent this request has ended' };
      this.#client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {});
    }
    this.#asked.clear();
    for (const request of [...this.#open.values()].filter((open) => open.link === link)) {
      request.link = null;
      if (isRepeatable(request.message)) this.#deliver(request).catch(this.#fail);
      else this.#answer(request.message.id, lost());
    }
  }

  async #current(): Promise<GatewayLink> {
    if (this.#link) return this.#link;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null;
    });
    return await this.#connecting;
  }

  async #connect(): Promise<GatewayLink> {
    for (let attempt = 1; ; attempt++) {
      const target = await this.#options.reach();
      const link: GatewayLink = new GatewayLink(target, this.#name, {
        onMessage: (message) => this.#fromGateway(message, link),
        onStreamEnd: (id) => this.#onStreamEnd(id, link),
        onError: this.#options.onError,
        onLost: () => {
          if (this.#ended) return;
          this.#drop(link);
          this.#current().catch(this.#fail);
        },
      });
      await link.open();
      if (await this.#restore(link)) {
        this.#link = link;
        return link;
      }
      await link.close();
      if (attempt >= DEFAULTS.attempts)
        throw new Error('Every gateway process ended right after it was reached');
      await sleep(DEFAULTS.pauseMs);
    }
  }

  /** Gives a new link the state of the old one; false if it is lost too. */
  async #restore(link: GatewayLink): Promise<boolean> {
    const { handshake } = this.#memory;
    if (!handshake) return true;
    const hello = await link.request(this.#replay(handshake.initialize));
    if (!hello || !('result' in hello)) return false;
    link.protocolVersion = String(hello.result.protocolVersion);
    await link.send(handshake.initialized);
    await Promise.all(this.#memory.wishes.map((wish) => link.request(this.#replay(wish))));
    return true;
  }

  #replay(message: JSONRPCRequest): JSONRPCRequest {
    return { ...message, id: `pml-replay-${++this.#replays}` };
  }
}

/** Whether repeating the request has no further effect. */
function isRepeatable({ method }: JSONRPCRequest): boolean {
  return method !== 'tools/call';
}

function isModern({ params }: JSONRPCRequest): boolean {
  return params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined;
}

function lost(): RpcError {
  const message = 'The gateway process ended during this call, which may or may not have run';
  return { code: INTERNAL_ERROR, message, data: { code: 'holder_gone' } };
}

/**
 * What a 2025-11-25 client has told its gateway: the handshake, the log level, its resource subscriptions.
 * Replayed to the next gateway, so that the client does not notice the change.
 */
class SessionMemory {
  #initialize: JSONRPCRequest | null = null;
  #initialized: JSONRPCNotification | null = null;
  #protocolVersion: string | null = null;
  readonly #asked = new Map<RequestId, JSONRPCRequest>();
  #level: JSONRPCRequest | null = null;
  readonly #watched = new Map<unknown, JSONRPCRequest>();

  /** The client's handshake, once complete. */
  get handshake(): { readonly initialize: JSONRPCRequest; readonly initialized: JSONRPCNotification } | null {
    return this.#initialize && this.#initialized && this.#protocolVersion !== null
      ? { initialize: this.#initialize, initialized: this.#initialized }
      : null;
  }

  /** Requests that give a new session the state of the old one. */
  get wishes(): readonly JSONRPCRequest[] {
    return [...(this.#level ? [this.#level] : []), ...this.#watched.values()];
  }

  fromClient(message: JSONRPCMessage): void {
    if (!('method' in message)) return;
    if (!('id' in message)) {
      if (message.method === 'notifications/initialized') this.#initialized = message;
      return;
    }
    if (message.method === 'initialize') this.#initialize = message;
    if (/^(initialize|logging\/setLevel|resources\/(un)?subscribe)$/.test(message.method)) {
      this.#asked.set(message.id, message);
    }
  }

  /** Returns the protocol version if `message` is the response to the handshake. */
  fromGateway(message: JSONRPCMessage): string | null {
    if (!('id' in message) || 'method' in message || message.id === undefined) return null;
    const request = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (!request || !('result' in message)) return null;
    switch (request.method) {
      case 'logging/setLevel':
        this.#level = request;
        return null;
      case 'resources/subscribe':
        this.#watched.set(request.params?.uri, request);
        return null;
      case 'resources/unsubscribe':
        this.#watched.delete(request.params?.uri);
        return null;
      default:
        this.#protocolVersion = String(message.result.protocolVersion);
        return this.#protocolVersion;
    }
  }
}
