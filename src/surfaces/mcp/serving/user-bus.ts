import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';

type Listener = (event: ServerEvent) => void;

/** Events for the clients that listen, each of whom is told its own user's and everybody's. */
export class UserBus implements ServerEventBus {
  readonly #onError: (error: Error) => void;
  readonly #users = new Map<Listener, string | undefined>();
  /** The SDK hands over a listener and not whose it is. */
  readonly #asking = new AsyncLocalStorage<string>();

  constructor(onError: (error: Error) => void) {
    this.#onError = onError;
  }

  /** Listeners that come from this work are this user's. */
  during<T>(user: string, work: () => T): T {
    return this.#asking.run(user, work);
  }

  subscribe(listener: Listener): () => void {
    this.#users.set(listener, this.#asking.getStore());
    return () => void this.#users.delete(listener);
  }

  /** To one user's listeners, or with null to all. */
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
