import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  RequestId,
} from '@modelcontextprotocol/client';

/**
 * What a 2025-11-25 client has told its gateway: the handshake, the log level, its resource subscriptions.
 * Replayed to the next gateway, so that the client does not notice the change.
 */
export class SessionMemory {
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
