import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  type McpSubscription,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SseError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import type {
  Audience,
  JsonObject,
  UpstreamClient,
  UpstreamFailure,
  UpstreamIdentity,
} from '../../engine/ports.ts';
import { AskRouter, askClient, type Call, QuietDeadline } from './ask-router.ts';
import { Exchange, type ExchangeOptions, ListedTools } from './exchange.ts';
import { UpstreamFault } from './failure.ts';

const DEFAULTS = { checkMs: 5_000, listenAgainMs: 1_000, pages: 1_000, ackMs: 5_000 };
const METHOD_NOT_FOUND = -32601;
/** These notifications concern every client, not only the one whose request they arrive with. */
const FOR_EVERYBODY = /^notifications\/(tools|prompts|resources)\//;
const EVERYBODY: Audience = { clientId: null, user: null };

export interface ConnectionListener {
  onNotification(method: string, params: JsonObject, audience: Audience): void;
  /** The connection is closed or unusable. */
  onLost(connection: Connection, reason: unknown): void;
}

export interface ConnectionRequest extends ExchangeOptions {
  readonly timeoutMs: number;
}

/**
 * One connection to a server, in either protocol era. Created before its client connects, because a server
 * may ask questions during the handshake.
 */
export class Connection {
  readonly #server: string;
  readonly #client: Client;
  readonly #exchange: Exchange;
  readonly #asks = new AskRouter();
  /** Users who have made requests on this connection. */
  readonly #users = new Set<string>();
  readonly #listen: ListenStream;
  #listener: ConnectionListener | null;
  readonly #rootsAsked = Promise.withResolvers<void>();
  #established = false;
  #checking = false;

  constructor(
    server: string,
    client: Client,
    listener: ConnectionListener,
    /** Whose roots the server gets when it asks outside of any request. */
    rootsClient: () => UpstreamClient | undefined = () => undefined,
  ) {
    this.#server = server;
    this.#client = client;
    this.#listener = listener;
    this.#exchange = new Exchange(server, client);
    this.#listen = new ListenStream(client, () => void this.#listenAgain());
    client.onclose = () => this.#lose('the connection was closed');
    client.onerror = (error) => void (error instanceof SseError ? this.#lose(error) : this.#doubt(error));
    client.fallbackRequestHandler = async ({ method, params }, { mcpReq: { signal } }) => {
      // A progress token is only valid on this connection.
      const { progressToken: _, ...meta } = (params?._meta ?? {}) as JsonObject;
      const question = params?._meta === undefined ? (params ?? {}) : { ...params, _meta: meta };
      const owners = await this.#asks.owners(signal);
      const roots = method === 'roots/list' && owners.length === 0 ? rootsClient() : undefined;
      if (!roots?.capabilities.roots) return askClient(owners, method, question, signal);
      try {
        return await roots.ask(method, question, signal);
      } finally {
        this.#rootsAsked.resolve();
      }
    };
    client.fallbackNotificationHandler = async ({ method, params }) => {
      const audience = this.#audienceOf(method);
      if (audience) this.#listener?.onNotification(method, params ?? {}, audience);
    };
  }

  /**
   * Resolves when the server has asked for roots and had time to use them, or when it has not asked for `askMs`. The
   * protocol has no sign that roots are in use: servers look the folders up first, which takes them `useMs` or so.
   */
  async rootsTold({ askMs, useMs }: { readonly askMs: number; readonly useMs: number }): Promise<void> {
    // A busy machine may start the handler that asks long after the handshake, but before it answers a ping.
    await this.ping();
    const waited = new AbortController();
    const late = sleep(askMs, undefined, { signal: waited.signal, ref: false }).catch(() => {});
    const isAsked = await Promise.race([this.#rootsAsked.promise.then(() => true), late.then(() => false)]);
    waited.abort();
    if (!isAsked) return;
    await this.ping();
    await sleep(useMs);
    await this.ping();
  }

  /** Null when it may belong to requests of several users: then it is dropped. */
  #audienceOf(method: string): Audience | null {
    if (FOR_EVERYBODY.test(method)) return EVERYBODY;
    const calls = this.#asks.current();
    const client = calls[0]?.client;
    if (client) return { clientId: client.id, user: calls[0]?.user ?? null };
    // A message that arrives after its request still belongs to that request's user.
    const users = calls.length > 0 ? new Set(calls.map((call) => call.user)) : this.#users;
    const [user] = users;
    if (users.size === 0) return EVERYBODY;
    return users.size === 1 && user !== undefined ? { clientId: null, user } : null;
  }

  /** The client has connected: from now on a lost connection is reported. */
  established(): void {
    this.#established = true;
  }

  get closed(): boolean {
    return this.#listener === null || this.#client.transport === undefined;
  }

  get modern(): boolean {
    return this.#exchange.modern;
  }

  get identity(): UpstreamIdentity {
    return {
      info: (this.#client.getServerVersion() as JsonObject | undefined) ?? null,
      capabilities: (this.#client.getServerCapabilities() as JsonObject | undefined) ?? {},
      instructions: this.#client.getInstructions() ?? null,
      protocolVersion: this.#client.getNegotiatedProtocolVersion() ?? 'unknown',
    };
  }

  async request(method: string, params: JsonObject, options: ConnectionRequest): Promise<JsonObject> {
    const deadline = new QuietDeadline(options.timeoutMs, options.signal, options.isFirm);
    const { client, user } = options;
    const call: Call = { client, user, deadline };
    if (user !== undefined) this.#users.add(user);
    try {
      return await this.#asks.run(call, () => this.#exchange.run(method, params, call, options));
    } catch (error) {
      if (deadline.expired) throw new UpstreamFault(timedOut(this.#server, method, options), error);
      throw error;
    } finally {
      deadline.dispose();
    }
  }

  /** All pages of `tools/list`, and notes about tools that were left out. */
  async tools(
    options: ConnectionRequest,
  ): Promise<{ readonly tools: readonly JsonObject[]; readonly notes: readonly string[] }> {
    const listed = new ListedTools();
    let cursor: unknown;
    for (let page = 0; page < DEFAULTS.pages; page++) {
      const result = await this.request('tools/list', cursor === undefined ? {} : { cursor }, options);
      if (Array.isArray(result.tools) && !listed.add(result.tools)) break;
      if (result.nextCursor === undefined || result.nextCursor === cursor) break;
      cursor = result.nextCursor;
    }
    const { tools, notes } = listed;
    return { tools: this.modern ? await this.#exchange.withSoundHeaders(tools) : tools, notes };
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.#client.notification({ method, params });
  }

  /**
   * Modern era only: subscribes to list changes and exactly these resources; fails if `required` is not among
   * them.
   */
  async watch(uris: readonly string[], required?: string): Promise<void> {
    const granted = await this.#listen.watch(uris);
    if (required !== undefined && !granted.includes(required)) {
      throw new ProtocolError(METHOD_NOT_FOUND, `The server does not announce changes to ${required}`);
    }
  }

  async ping(): Promise<void> {
    if (this.modern) await this.#client.discover({ timeout: DEFAULTS.checkMs });
    else await this.#client.ping({ timeout: DEFAULTS.checkMs });
  }

  async close(): Promise<void> {
    this.#listener = null;
    const { transport } = this.#client;
    if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
      const patience = sleep(DEFAULTS.checkMs, undefined, { ref: false });
      await Promise.race([transport.terminateSession().catch(() => {}), patience]);
    }
    await this.#client.close();
  }

  /** After an error outside any request: checks whether the server still responds. */
  async #doubt(reason: unknown): Promise<void> {
    // The end of a process is reported separately.
    const overHttp = this.#client.transport instanceof StreamableHTTPClientTransport;
    if (!overHttp || !this.#established || this.#checking || this.closed) return;
    this.#checking = true;
    try {
      await this.ping();
    } catch (error) {
      // A slow server is still there.
      if (!(error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)) this.#lose(reason);
    } finally {
      this.#checking = false;
    }
  }

  /** Proxies close streams that are silent for long. */
  async #listenAgain(): Promise<void> {
    await this.#doubt('the listen stream ended');
    await sleep(DEFAULTS.listenAgainMs, undefined, { ref: false });
    if (!this.closed) await this.#listen.reopen();
  }

  #lose(reason: unknown): void {
    if (!this.#established) return;
    const listener = this.#listener;
    this.#listener = null;
    if (!listener) return;
    listener.onLost(this, reason);
    // A server that shuts down gracefully still answers its open requests; only the shared stream has ended.
    const idle = reason instanceof SseError ? Promise.resolve() : this.#asks.idle();
    void idle.then(() => this.#client.close()).catch(() => {});
  }
}

function timedOut(server: string, method: string, { timeoutMs, isFirm }: ConnectionRequest): UpstreamFailure {
  const what = isFirm ? 'did not end within' : 'sent nothing for';
  return {
    code: 'upstream_timeout',
    errorType: 'TIMEOUT',
    message: `Server "${server}" ${what} ${timeoutMs} ms during "${method}"`,
    hint: isFirm
      ? 'Raise the timeout of this call if it may take that long.'
      : "Raise the server's timeout in the configuration if calls may take that long.",
  };
}

/**
 * The single `subscriptions/listen` stream of a 2026-07-28 connection. The server announces changes only on
 * this stream; to change the subscriptions, a new stream is opened.
 */
class ListenStream {
  readonly #client: Client;
  readonly #onLost: () => void;
  #open: McpSubscription | null = null;
  #uris: readonly string[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(client: Client, onLost: () => void) {
    this.#client = client;
    this.#onLost = onLost;
  }

  /** Returns the resources the server agreed to watch; none if it does not support the stream. */
  watch(uris: readonly string[]): Promise<readonly string[]> {
    this.#uris = uris;
    const next = this.#turn.then(() => this.#replace());
    this.#turn = next;
    return next;
  }

  /** Subscribes again after the stream was lost. */
  async reopen(): Promise<void> {
    await this.watch(this.#uris);
  }

  async #replace(): Promise<readonly string[]> {
    const filter = listenFilter(this.#client.getServerCapabilities() ?? {}, this.#uris);
    const old = this.#open;
    const wanted = Object.keys(filter).length > 0;
    const opened = wanted
      ? await this.#client.listen(filter, { timeout: DEFAULTS.ackMs }).catch(() => null)
      : null;
    this.#open = opened;
    await old?.close();
    void opened?.closed.then((cause) => {
      if (cause !== 'local' && this.#open === opened) this.#onLost();
    });
    return opened?.honoredFilter.resourceSubscriptions ?? [];
  }
}

function listenFilter(capabilities: JsonObject, uris: readonly string[]) {
  const tells = (feature: string) =>
    (capabilities[feature] as { listChanged?: boolean } | undefined)?.listChanged === true;
  return {
    ...(tells('tools') && { toolsListChanged: true }),
    ...(tells('prompts') && { promptsListChanged: true }),
    ...(tells('resources') && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
  };
}
