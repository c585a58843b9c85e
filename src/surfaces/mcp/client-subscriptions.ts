import type { Gateway } from '../../engine/gateway.ts';
import { mayReach } from '../../engine/people/roles.ts';
import type { UpstreamClient } from '../../engine/ports.ts';
import type { ClientRequest } from './endpoint.ts';
import type { KnownServers } from './known-servers.ts';
import { invalidParams } from './rpc-error.ts';

/** From the most to the least verbose (RFC 5424). */
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

const FIRST_MODERN_VERSION = '2026-07-28';

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

/** Log levels of servers: clients of the older era set them once, the others per request. */
export class LogLevels {
  readonly #gateway: Gateway;
  readonly #servers: KnownServers;
  readonly #subscriptions: ClientSubscriptions;

  constructor(gateway: Gateway, servers: KnownServers, subscriptions: ClientSubscriptions) {
    this.#gateway = gateway;
    this.#servers = servers;
    this.#subscriptions = subscriptions;
  }

  /** Sent to running servers now, and to others when they start. */
  async set({ params, caller: { client, who } }: ClientRequest): Promise<Record<string, never>> {
    const { level } = params;
    if (!isLogLevel(level)) throw invalidParams(`Unknown log level "${level}"`);
    this.#subscriptions.setLevel(client.id, level);
    const servers = this.#servers.ready().filter((server) => mayReach(who, server));
    await Promise.all(servers.map((server) => this.#tell(server, client, level)));
    return {};
  }

  async cameUp(server: string): Promise<void> {
    const wanted = [...this.#subscriptions.levels()];
    await Promise.all(wanted.map(([id, level]) => this.#tell(server, speechless(id), level)));
  }

  /** Runs a request of the newer era; a server of the older era is sent the level first. */
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

  /** A server that refuses the level keeps its own. */
  async #tell(server: string, client: UpstreamClient, level: string): Promise<void> {
    if ((await this.#servers.capabilities(server))?.logging === undefined) return;
    await this.#gateway.request(server, 'logging/setLevel', { level }, { sessionId: null, client });
  }
}

/** A client that cannot be asked: setting a level asks no questions. */
function speechless(id: string): UpstreamClient {
  return { id, capabilities: {}, ask: () => Promise.reject(new Error('this client cannot be asked')) };
}

/** Whether `level` is at least as severe as `wanted`. */
export function isGraveEnough(level: unknown, wanted: string): boolean {
  return LEVELS.indexOf(String(level)) >= LEVELS.indexOf(wanted);
}

export function isLogLevel(level: unknown): level is string {
  return typeof level === 'string' && LEVELS.includes(level);
}
