import { AsyncLocalStorage } from 'node:async_hooks';
import type { UpstreamClient } from '../../engine/ports.ts';
import type { QuietDeadline } from './quiet-deadline.ts';

const DEFAULTS = { waitMs: 10_000 };

/** A request in flight, and whom it is made for. */
export interface Call {
  readonly client: UpstreamClient | undefined;
  readonly deadline: QuietDeadline;
}

/**
 * Says whose request a server's question or remark belongs to. Over HTTP it arrives on the stream of
 * that request, which the async context tells. On a pipe nothing tells: when requests of several
 * clients are in flight, the question waits until only one client's are left (the asking request
 * cannot end before it is answered), and new requests wait for it. It is never put to the wrong client.
 */
export class AskRouter {
  readonly #calls = new Set<Call>();
  readonly #context = new AsyncLocalStorage<Call>();
  readonly #waitMs: number;
  readonly #changed = new Set<() => void>();
  #undecided = 0;

  constructor(waitMs: number = DEFAULTS.waitMs) {
    this.#waitMs = waitMs;
  }

  /** Runs a request so that what the server asks meanwhile can be put to its client. */
  async run<T>(call: Call, request: () => Promise<T>): Promise<T> {
    while (this.#undecided > 0 && !this.#isOnlyClient(call)) await this.#change(call.deadline.signal);
    this.#calls.add(call);
    try {
      return await this.#context.run(call, request);
    } finally {
      this.#calls.delete(call);
      this.#announce();
    }
  }

  /**
   * The calls a question may belong to, all of one client: just one where the stream tells. None when
   * nothing is in flight or the client cannot be told in time.
   */
  async owners(signal: AbortSignal): Promise<readonly Call[]> {
    const known = this.current();
    if (known.length > 0 || this.#calls.size === 0) return known;
    this.#undecided += 1;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#waitMs)]);
    try {
      while (this.#clients().size > 1) await this.#change(limit);
      return this.current();
    } catch {
      return [];
    } finally {
      this.#undecided -= 1;
      this.#announce();
    }
  }

  /** As `owners`, without waiting. */
  current(): readonly Call[] {
    const call = this.#context.getStore();
    if (call && this.#calls.has(call)) return [call];
    return this.#clients().size === 1 ? [...this.#calls] : [];
  }

  #clients(): Set<string | undefined> {
    return new Set([...this.#calls].map((call) => call.client?.id));
  }

  #isOnlyClient(call: Call): boolean {
    const clients = this.#clients();
    return clients.size === 0 || (clients.size === 1 && clients.has(call.client?.id));
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        this.#changed.delete(go);
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener('abort', leave);
        this.#changed.delete(go);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#changed.add(go);
    });
  }

  #announce(): void {
    for (const go of [...this.#changed]) go();
  }
}
