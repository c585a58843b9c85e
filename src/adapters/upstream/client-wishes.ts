/** From the most to the least talkative (RFC 5424). */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/**
 * What clients asked of a server that outlives one request. The server knows one client, us, so a
 * subscription ends with its last client, and the most talkative log level holds.
 */
export class ClientWishes {
  readonly #subscribers = new Map<string, Set<string>>();
  readonly #levels = new Map<string, string>();

  get uris(): readonly string[] {
    return [...this.#subscribers.keys()];
  }

  get level(): string | null {
    const wanted = [...this.#levels.values()];
    return LEVELS.find((level) => wanted.includes(level)) ?? wanted[0] ?? null;
  }

  levelOf(clientId: string): string | null {
    return this.#levels.get(clientId) ?? null;
  }

  setLevel(clientId: string, level: string): void {
    this.#levels.set(clientId, level);
  }

  /** True when nobody had subscribed before. */
  subscribe(clientId: string, uri: string): boolean {
    const clients = this.#subscribers.get(uri);
    if (clients) clients.add(clientId);
    else this.#subscribers.set(uri, new Set([clientId]));
    return clients === undefined;
  }

  /** True when nobody is left. */
  unsubscribe(clientId: string, uri: string): boolean {
    const clients = this.#subscribers.get(uri);
    if (!clients?.delete(clientId) || clients.size > 0) return false;
    return this.#subscribers.delete(uri);
  }

  /** Answers the resources nobody watches any more. */
  forget(clientId: string): readonly string[] {
    this.#levels.delete(clientId);
    return this.uris.filter((uri) => this.unsubscribe(clientId, uri));
  }
}
