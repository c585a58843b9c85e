import type { Gateway } from '../../../engine/gateway.ts';
import type { UpstreamClient } from '../../../engine/ports.ts';
import type { ClientSubscriptions } from '../client-subscriptions.ts';
import type { ClientRequest } from '../endpoint.ts';
import type { KnownServers } from '../known-servers.ts';
import { isLogLevel } from '../log-level.ts';
import { invalidParams } from '../rpc-error.ts';

const FIRST_MODERN_VERSION = '2026-07-28';

/** How talkative servers are to be: once for all by clients of the older era, per request by the others. */
export class LogLevels {
  readonly #gateway: Gateway;
  readonly #servers: KnownServers;
  readonly #subscriptions: ClientSubscriptions;

  constructor(gateway: Gateway, servers: KnownServers, subscriptions: ClientSubscriptions) {
    this.#gateway = gateway;
    this.#servers = servers;
    this.#subscriptions = subscriptions;
  }

  /** Told to the servers that run; the others are told when they come up. */
  async set({ params, caller: { client } }: ClientRequest): Promise<Record<string, never>> {
    const { level } = params;
    if (!isLogLevel(level)) throw invalidParams(`"${level}" is not a log level`);
    this.#subscriptions.setLevel(client.id, level);
    await Promise.all(this.#servers.ready().map((server) => this.#tell(server, client, level)));
    return {};
  }

  async cameUp(server: string): Promise<void> {
    const wanted = [...this.#subscriptions.levels()];
    await Promise.all(wanted.map(([id, level]) => this.#tell(server, speechless(id), level)));
  }

  /** Runs a request of the newer era at a server; one of the older era has to be told the level beforehand. */
  async during<T>(
    server: string,
    { logLevel, caller: { client } }: ClientRequest,
    run: () => Promise<T>,
  ): Promise<T> {
    if (logLevel === null || !(await this.#isOfOlderEra(server))) return await run();
    await this.#tell(server, client, logLevel);
    try {
      return await run();
    } finally {
      void this.#gateway.forgetClient(client.id);
    }
  }

  async #isOfOlderEra(server: string): Promise<boolean> {
    const identity = await this.#gateway.identity(server, { sessionId: null });
    return identity.ok && identity.value.protocolVersion < FIRST_MODERN_VERSION;
  }

  /** A server that will not hear of it stays as it is. */
  async #tell(server: string, client: UpstreamClient, level: string): Promise<void> {
    if ((await this.#servers.capabilities(server))?.logging === undefined) return;
    await this.#gateway.request(server, 'logging/setLevel', { level }, { sessionId: null, client });
  }
}

/** A client by name alone: nothing is asked while a level is set. */
function speechless(id: string): UpstreamClient {
  return { id, capabilities: {}, ask: () => Promise.reject(new Error('nobody is asked')) };
}
