import type { ServerSettings, UpstreamServer } from '../../engine/ports.ts';
import type { ServerContext } from './server-life.ts';
import type { ServerLink } from './server-link.ts';

/**
 * A server that nothing was asked of yet. With the first request comes the code that speaks the
 * protocol, a fifth of a second's loading that a start of PML need not wait for.
 */
export class LazyLink {
  readonly #context: ServerContext;
  readonly #since: Date;
  #settings: ServerSettings;
  #link: ServerLink | null = null;
  #closed = false;

  constructor(settings: ServerSettings, context: ServerContext) {
    this.#settings = settings;
    this.#context = context;
    this.#since = context.clock.now();
  }

  get settings(): ServerSettings {
    return this.#settings;
  }

  /** Null before the first `open`. */
  get opened(): ServerLink | null {
    return this.#link;
  }

  async open(): Promise<ServerLink> {
    if (this.#link) return this.#link;
    const { ServerLink } = await import('./server-link.ts');
    this.#link ??= new ServerLink(this.#settings, this.#context);
    // Closed while the code was being loaded: a closed link refuses, instead of starting what nobody would stop.
    if (this.#closed) await this.#link.close();
    return this.#link;
  }

  /** New limits; the way of starting must be the same. */
  adjust(settings: ServerSettings): void {
    this.#settings = settings;
    this.#link?.adjust(settings);
  }

  describe(): UpstreamServer {
    if (this.#link) return this.#link.describe();
    const { name, transport, disabled } = this.#settings;
    return {
      name,
      transport,
      state: disabled ? 'disabled' : 'idle',
      since: this.#since,
      error: null,
      pid: null,
      toolCount: null,
      protocolVersion: null,
      callsInFlight: 0,
      callsWaiting: 0,
      garbageLines: 0,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#link?.close();
  }
}
