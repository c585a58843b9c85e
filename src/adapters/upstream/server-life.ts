import { setTimeout } from 'node:timers/promises';
import type {
  Audience,
  Clock,
  JsonObject,
  Logger,
  ServerSettings,
  TokenStore,
  UpstreamClient,
  UpstreamEvent,
  UpstreamFailure,
  UpstreamState,
} from '../../engine/ports.ts';
import { type Connected, connect } from './connect.ts';
import type { Connection, ConnectionListener } from './connection.ts';
import { disabled, failureOf, NEXT_CALL_TRIES, reasonOf, UpstreamFault, unavailable } from './failure.ts';
import type { ChildRegistry } from './process-tree.ts';
import { RecentLines } from './stdio-transport.ts';

const DEFAULTS = {
  /** Milliseconds: a start that fails within them is cheap enough to be tried for every call. */
  quickMs: 5_000,
};

export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

export interface ServerContext {
  readonly info: { readonly name: string; readonly version: string };
  readonly registry: ChildRegistry;
  readonly dataDir: string;
  readonly tokens: TokenStore;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly backoff: BackoffOptions;
  readonly startMs?: number;
  readonly probeMs?: number;
  readonly graceMs?: number;
  /** Whose roots the server gets, where it serves one session alone. */
  readonly rootsClient?: () => UpstreamClient | undefined;
  emit(event: UpstreamEvent): void;
}

export interface ServerLifeHooks {
  /** Restores the state of the old connection on a new one before anyone uses it. */
  prepare(connection: Connection): Promise<void>;
  /** Whether some client listens to the server without calling it. */
  isListenedTo(): boolean;
}

/**
 * The lifecycle of a server: started on first use, once for all callers; restarted or reconnected after a
 * loss.
 */
export class ServerLife implements ConnectionListener {
  readonly #context: ServerContext;
  readonly #hooks: ServerLifeHooks;
  readonly #settings: ServerSettings;
  readonly #stderr = new RecentLines();
  #state: UpstreamState;
  #since: Date;
  #error: UpstreamFailure | null = null;
  #live: Connected | null = null;
  #starting: Promise<Connected> | null = null;
  #stop = new AbortController();
  #failures = 0;
  /** In the clock's monotonic time; calls before it get the last error. */
  #retryAt = 0;
  /** The same for calls that want it: only a start that took long, such as one that got no answer, makes them wait. */
  #wantedAt = 0;
  #retry: NodeJS.Timeout | undefined;
  #wasReady = false;
  #closed = false;
  #knownLegacy = false;
  #garbageLines = 0;

  constructor(settings: ServerSettings, context: ServerContext, hooks: ServerLifeHooks) {
    this.#settings = settings;
    this.#context = context;
    this.#hooks = hooks;
    this.#state = settings.disabled ? 'disabled' : 'idle';
    if (settings.disabledReason !== undefined) this.#error = disabled(settings);
    this.#since = context.clock.now();
  }

  describe() {
    return {
      state: this.#state,
      since: this.#since,
      error: this.#error,
      pid: this.#live?.pid ?? null,
      protocolVersion: this.#live?.connection.identity.protocolVersion ?? null,
      garbageLines: this.#garbageLines,
    };
  }

  /** The current connection; null if there is none. */
  get live(): Connected | null {
    return this.#live;
  }

  /** Records something a person may want to know about the server. */
  note(text: string): void {
    this.#stderr.append(`[pml] ${text}\n`);
    this.#context.logger.log('warn', text, { server: this.#settings.name });
  }

  logs(): readonly string[] {
    return this.#stderr.list();
  }

  /** Returns a working connection; starts the server if there is none, for one who wants it also during the backoff. */
  async connected(signal?: AbortSignal, isWanted = false): Promise<Connected> {
    signal?.throwIfAborted();
    const { name } = this.#settings;
    if (this.#closed) throw new UpstreamFault(unavailable(name, 'it was stopped'));
    if (this.#settings.disabled) throw new UpstreamFault(disabled(this.#settings));
    if (this.#live && !this.#live.connection.closed) return this.#live;
    const now = this.#context.clock.monotonic();
    if (this.#error && !this.#starting && now < this.#retryAt) {
      const wait = this.#wantedAt - now;
      if (!isWanted || wait > this.#context.backoff.baseMs)
        throw new UpstreamFault(again(this.#error, this.#retryAt - now));
      // Calls in a loop do not start processes in a loop.
      if (wait > 0) await setTimeout(wait, undefined, { signal });
      signal?.throwIfAborted();
    }
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null;
    });
    return signal ? abandonable(this.#starting, signal) : this.#starting;
  }

  /** Ends the connection and the server's processes; the next request starts it again. */
  async drop(): Promise<void> {
    this.#stop.abort(new Error('stopped'));
    if (this.#starting) await this.#starting.catch(() => {});
    clearTimeout(this.#retry);
    // In the same turn where nothing starts: no request can get a connection that is about to close.
    const live = this.#live;
    this.#live = null;
    this.#failures = 0;
    this.#retryAt = 0;
    this.#wantedAt = 0;
    if (!this.#closed && !this.#settings.disabled) this.#become('idle');
    await live?.connection.close().catch(() => {});
  }

  /** Closes for good and without events: the name may already belong to another server. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.drop();
  }

  onNotification(method: string, params: JsonObject, audience: Audience): void {
    this.#context.emit({ type: 'notification', server: this.#settings.name, method, params, ...audience });
  }

  onLost(connection: Connection, reason: unknown): void {
    if (this.#live?.connection !== connection) return;
    const exit = this.#live.exit();
    this.#live = null;
    this.#failed(unavailable(this.#settings.name, exit ?? reasonOf(reason)));
  }

  async #start(): Promise<Connected> {
    clearTimeout(this.#retry);
    this.#stop = new AbortController();
    this.#become('starting');
    const { clock } = this.#context;
    const began = clock.monotonic();
    try {
      const live = await connect({
        ...this.#context,
        settings: this.#settings,
        listener: this,
        signal: this.#stop.signal,
        stderr: this.#stderr,
        knownLegacy: this.#knownLegacy,
        onGarbage: (line) => this.#onGarbage(line),
      });
      this.#live = live;
      await this.#hooks.prepare(live.connection);
      this.#knownLegacy = this.#settings.transport === 'stdio' && !live.connection.modern;
      this.#failures = 0;
      this.#wasReady = true;
      this.#become('ready');
      return live;
    } catch (error) {
      const half = this.#live;
      this.#live = null;
      await half?.connection.close().catch(() => {});
      this.#failures += 1;
      const now = clock.monotonic();
      this.#retryAt = now + this.#backoff();
      this.#wantedAt = now - began < DEFAULTS.quickMs ? now + this.#backoff(1) : this.#retryAt;
      this.#failed(failureOf(this.#settings.name, error));
      throw error;
    }
  }

  /**
   * A process is restarted by the next call; a remote server, or one that is listened to, is retried on a
   * timer.
   */
  #failed(error: UpstreamFailure): void {
    if (this.#stop.signal.aborted) return;
    const { name, transport } = this.#settings;
    this.#context.logger.log('warn', error.message, { server: name });
    const sought = this.#wasReady && (transport !== 'stdio' || this.#hooks.isListenedTo());
    this.#become(sought ? 'backoff' : 'failed', error);
    if (!sought) return;
    const seek = () => {
      this.#retryAt = 0;
      this.connected().catch(() => {});
    };
    this.#retry = globalThis.setTimeout(seek, Math.max(this.#backoff(), this.#backoff(1))).unref();
  }

  #backoff(failures = this.#failures): number {
    return backoffMs(failures, this.#context.backoff, this.#context.random);
  }

  #become(state: UpstreamState, error: UpstreamFailure | null = null): void {
    this.#state = state;
    this.#error = error;
    this.#since = this.#context.clock.now();
    this.#context.emit({ type: 'state', server: this.#settings.name, state, error });
  }

  #onGarbage(line: string): void {
    this.#garbageLines += 1;
    if (this.#garbageLines > 1) return;
    const { name } = this.#settings;
    const fields = { server: name, line: line.slice(0, 200) };
    this.#context.logger.log(
      'warn',
      `Server "${name}" writes output that is not an MCP message to stdout`,
      fields,
    );
  }
}

function again(error: UpstreamFailure, waitMs: number): UpstreamFailure {
  const seconds = Math.ceil(waitMs / 1_000);
  const retry = `PML retries in ${seconds} s; \`pml servers restart\` retries at once.`;
  return { ...error, hint: [error.hint?.replace(NEXT_CALL_TRIES, '.'), retry].filter(Boolean).join(' ') };
}

/** When one caller cancels, the start continues for the others. */
async function abandonable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([promise, left]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/**
 * Wait before attempt `failures` + 1: exponential, with "equal jitter" (half fixed, half random), so that
 * servers lost together do not reconnect together. Marc Brooker, "Exponential Backoff and Jitter", AWS
 * Architecture Blog, 2015.
 */
export function backoffMs(failures: number, options: BackoffOptions, random: () => number): number {
  if (failures <= 0) return 0;
  const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(failures - 1, 30));
  return full / 2 + (full / 2) * random();
}
