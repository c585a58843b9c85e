import { ProtocolError } from '@modelcontextprotocol/client';
import type {
  JsonObject,
  ServerSettings,
  UpstreamIdentity,
  UpstreamOptions,
  UpstreamServer,
} from '../../engine/ports.ts';
import { CallSlots, HeldSlot } from './call-slots.ts';
import type { Connection, ConnectionRequest } from './connection.ts';
import { isConnectionLoss, isCutOff, isUnsent, reasonOf, UpstreamFault, unavailable } from './failure.ts';
import { type ServerContext, ServerLife } from './server-life.ts';

/** From the most to the least verbose (RFC 5424). */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

const HEADER_MISMATCH = -32020;
/** The client id of requests that are made for no client. */
const NOBODY = '';

/** Requests to one server, whether or not it is running. */
export class ServerLink {
  readonly #life: ServerLife;
  readonly #slots: CallSlots;
  readonly #wishes = new ClientWishes();
  #settings: ServerSettings;
  #toolCount: number | null = null;
  #underWay = 0;
  /** Runs out when no request has come for a while. */
  #idle: NodeJS.Timeout | undefined;

  constructor(settings: ServerSettings, context: ServerContext) {
    this.#settings = settings;
    this.#slots = new CallSlots(settings.concurrency);
    this.#life = new ServerLife(settings, context, {
      prepare: (connection) => this.#grantAll(connection),
      isListenedTo: () => this.#wishes.uris.length > 0,
    });
  }

  get settings(): ServerSettings {
    return this.#settings;
  }

  /** Applies new limits; the settings that affect the start must be unchanged. */
  adjust(settings: ServerSettings): void {
    this.#settings = settings;
    this.#slots.limit = settings.concurrency;
    this.#stopLater();
  }

  describe(): UpstreamServer {
    return {
      ...this.#life.describe(),
      name: this.#settings.name,
      transport: this.#settings.transport,
      toolCount: this.#toolCount,
      callsInFlight: this.#slots.taken,
      callsWaiting: this.#slots.waiting,
    };
  }

  logs(): readonly string[] {
    return this.#life.logs();
  }

  start(options: UpstreamOptions): Promise<UpstreamIdentity> {
    return this.#exchange('the start', options, async ({ identity }) => identity);
  }

  async tools(options: UpstreamOptions): Promise<readonly JsonObject[]> {
    const { tools, notes } = await this.#exchange('tools/list', options, async (connection) =>
      // Some servers answer a list of tools with an error if they have none.
      connection.identity.capabilities.tools === undefined
        ? { tools: [], notes: [] }
        : connection.tools(this.#request(options)),
    );
    for (const note of notes) this.#life.note(note);
    this.#toolCount = tools.length;
    return tools;
  }

  async callTool(params: JsonObject, options: UpstreamOptions): Promise<JsonObject> {
    const slot = await HeldSlot.take(this.#slots, options.signal, options.user);
    const client = options.client && slot.lentWhileAsking(options.client);
    const request = this.#request({ ...options, ...(client && { client }) });
    try {
      return await this.#exchange(`"${params.name}"`, { ...options, isWanted: true }, async (connection) => {
        const send = () => connection.request('tools/call', params, request);
        try {
          return await send();
        } catch (error) {
          if (!(error instanceof ProtocolError && error.code === HEADER_MISMATCH)) throw error;
          // The tool list says which arguments the server wants in headers.
          await connection.tools(request);
          return send();
        }
      });
    } finally {
      slot.release();
    }
  }

  request(method: string, params: JsonObject, options: UpstreamOptions): Promise<JsonObject> {
    const clientId = options.client?.id ?? NOBODY;
    return this.#exchange(method, options, (connection) => {
      switch (method) {
        case 'ping':
          return connection.ping().then(() => ({}));
        case 'logging/setLevel':
          this.#wishes.setLevel(clientId, String(params.level));
          return this.#sendLevel(connection, options);
        case 'resources/subscribe':
          return this.#watch(connection, clientId, params, options);
        case 'resources/unsubscribe':
          return this.#unwatch(connection, clientId, params, options);
        default:
          return connection.request(method, params, this.#request(options));
      }
    });
  }

  async notify(method: string, params: JsonObject): Promise<boolean> {
    try {
      await this.#life.live?.connection.notify(method, params);
    } catch {
      return false;
    }
    return this.#life.live !== null;
  }

  async forgetClient(clientId: string): Promise<void> {
    const { level } = this.#wishes;
    const connection = this.#life.live?.connection;
    for (const uri of this.#wishes.forget(clientId)) {
      if (connection?.modern) continue;
      await connection?.request('resources/unsubscribe', { uri }, this.#request({}));
    }
    if (connection?.modern) await connection.watch(this.#wishes.uris);
    if (connection && this.#wishes.level !== level) await this.#sendLevel(connection, {});
    this.#stopLater();
  }

  async restart(): Promise<UpstreamIdentity> {
    await this.#life.drop();
    return this.start({});
  }

  /** Ends the connection; the next request makes a new one. */
  drop(): Promise<void> {
    return this.#life.drop();
  }

  close(): Promise<void> {
    clearTimeout(this.#idle);
    return this.#life.close();
  }

  /** Ends a process that nobody uses or listens to once its time is up. */
  #stopLater(): void {
    clearTimeout(this.#idle);
    const idleMs = this.#settings.transport === 'stdio' ? this.#settings.idleStopMs : undefined;
    if (idleMs === undefined || this.#underWay > 0) return;
    this.#idle = setTimeout(() => {
      const isNeeded = this.#underWay > 0 || this.#wishes.uris.length > 0;
      if (this.#life.live && !isNeeded) void this.#life.drop();
    }, idleMs).unref();
  }

  /** Runs a request on a connection; retries once on a new one if the server has not received it. */
  async #exchange<T>(
    what: string,
    options: UpstreamOptions,
    run: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    this.#underWay++;
    try {
      return await this.#attempt(what, options, run);
    } finally {
      this.#underWay--;
      this.#stopLater();
    }
  }

  async #attempt<T>(
    what: string,
    options: UpstreamOptions,
    run: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      const live = await this.#life.connected(options.signal, options.isWanted);
      try {
        return await run(live.connection);
      } catch (error) {
        if (isCutOff(error)) this.#life.note(`${what} was cut off: ${reasonOf(error)}`);
        if (attempt > 0 || !isUnsent(error)) {
          throw isConnectionLoss(error) ? this.#lossDuring(what, live.exit(), error) : error;
        }
        if (this.#life.live === live) await this.#life.drop();
      }
    }
  }

  #lossDuring(what: string, exit: string | null, cause: unknown): UpstreamFault {
    const how = exit ?? 'the connection was lost';
    return new UpstreamFault(unavailable(this.#settings.name, `${how} during ${what}`), cause);
  }

  #request(options: UpstreamOptions): ConnectionRequest {
    const logLevel = this.#wishes.levelOf(options.client?.id ?? NOBODY);
    return { ...options, timeoutMs: options.timeoutMs ?? this.#settings.timeoutMs, logLevel };
  }

  async #watch(
    connection: Connection,
    clientId: string,
    params: JsonObject,
    options: UpstreamOptions,
  ): Promise<JsonObject> {
    const uri = String(params.uri);
    if (!this.#wishes.subscribe(clientId, uri)) return {};
    try {
      if (!connection.modern) {
        return await connection.request('resources/subscribe', params, this.#request(options));
      }
      await connection.watch(this.#wishes.uris, uri);
      return {};
    } catch (error) {
      this.#wishes.unsubscribe(clientId, uri);
      throw error;
    }
  }

  async #unwatch(
    connection: Connection,
    clientId: string,
    params: JsonObject,
    options: UpstreamOptions,
  ): Promise<JsonObject> {
    if (!this.#wishes.unsubscribe(clientId, String(params.uri))) return {};
    if (!connection.modern)
      return connection.request('resources/unsubscribe', params, this.#request(options));
    await connection.watch(this.#wishes.uris);
    return {};
  }

  /** In the modern era each request carries its client's log level instead. */
  async #sendLevel(connection: Connection, options: UpstreamOptions): Promise<JsonObject> {
    const { level } = this.#wishes;
    if (level === null || connection.modern) return {};
    return connection.request('logging/setLevel', { level }, this.#request(options));
  }

  async #grantAll(connection: Connection): Promise<void> {
    if (connection.modern) return connection.watch(this.#wishes.uris);
    // A missing resource must not keep the server from starting.
    const ignore = () => ({});
    for (const uri of this.#wishes.uris) {
      await connection.request('resources/subscribe', { uri }, this.#request({})).catch(ignore);
    }
    await this.#sendLevel(connection, {}).catch(ignore);
  }
}

/**
 * Subscriptions and log levels of clients, which outlast a request. The server sees a single client, us, so a
 * subscription ends with its last subscriber, and the most verbose log level applies.
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

  /** Returns true for the first subscriber. */
  subscribe(clientId: string, uri: string): boolean {
    const clients = this.#subscribers.get(uri);
    if (clients) clients.add(clientId);
    else this.#subscribers.set(uri, new Set([clientId]));
    return clients === undefined;
  }

  /** Returns true if no subscriber is left. */
  unsubscribe(clientId: string, uri: string): boolean {
    const clients = this.#subscribers.get(uri);
    if (!clients?.delete(clientId) || clients.size > 0) return false;
    return this.#subscribers.delete(uri);
  }

  /** Returns the resources without subscribers. */
  forget(clientId: string): readonly string[] {
    this.#levels.delete(clientId);
    return this.uris.filter((uri) => this.unsubscribe(clientId, uri));
  }
}
