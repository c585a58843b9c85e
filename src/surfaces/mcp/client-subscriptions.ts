/** Subscriptions and log levels of an endpoint's clients, which outlast a request. */
export class ClientSubscriptions {
  readonly #watched = new Map<string, Set<string>>();
  readonly #levels = new Map<string, string>();

  watch(clientId: string, uri: string): void {
    const uris = this.#watched.get(clientId);
    if (uris) uris.add(uri);
    else this.#watched.set(clientId, new Set([uri]));
  }

  unwatch(clientId: string, uri: string): void {
    this.#watched.get(clientId)?.delete(uri);
  }

  watches(clientId: string, uri: string): boolean {
    return this.#watched.get(clientId)?.has(uri) ?? false;
  }

  setLevel(clientId: string, level: string): void {
    this.#levels.set(clientId, level);
  }

  levelOf(clientId: string): string | null {
    return this.#levels.get(clientId) ?? null;
  }

  /** Client id and level of each client that has set one. */
  levels(): Iterable<readonly [string, string]> {
    return this.#levels;
  }

  forget(clientId: string): void {
    this.#watched.delete(clientId);
    this.#levels.delete(clientId);
  }
}
