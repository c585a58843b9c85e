import type {
  JsonObject,
  ServerSettings,
  ToolResult,
  Upstream,
  UpstreamChanges,
  UpstreamEvent,
  UpstreamFailure,
  UpstreamIdentity,
  UpstreamLogin,
  UpstreamOptions,
  UpstreamReply,
  UpstreamServer,
  UpstreamState,
  UpstreamTool,
  UserCredentials,
} from '../../src/engine/ports.ts';
import {
  answerInTime,
  cancelled,
  failed,
  type MemoryContext,
  MemoryRpcError,
  type MemoryServer,
} from './upstream-server.ts';

const DEFAULTS = { timeoutMs: 60_000 };

interface Entry {
  readonly server: MemoryServer;
  disabled: boolean;
  timeoutMs: number;
  state: UpstreamState;
  since: Date;
  error: UpstreamFailure | null;
  toolCount: number | null;
  callsInFlight: number;
}

/** The port without processes and connections, for tests of everything above it. */
export class MemoryUpstream implements Upstream {
  readonly #installed: ReadonlyMap<string, MemoryServer>;
  readonly #listeners = new Set<(event: UpstreamEvent) => void>();
  /** Users with their own credentials, by server. */
  readonly #kept = new Set<string>();
  #entries: Map<string, Entry>;

  constructor(servers: readonly MemoryServer[]) {
    this.#installed = new Map(servers.map((server) => [server.name, server]));
    this.#entries = new Map(servers.map((server) => [server.name, entryOf(server, server.settings ?? {})]));
  }

  servers(): readonly UpstreamServer[] {
    return [...this.#entries.values()].map(({ server, state, since, error, toolCount, callsInFlight }) => ({
      name: server.name,
      transport: 'stdio',
      state,
      since,
      error,
      pid: null,
      toolCount,
      protocolVersion: state === 'ready' ? identityOf(server).protocolVersion : null,
      callsInFlight,
      callsWaiting: 0,
      garbageLines: 0,
    }));
  }

  start(server: string, options: UpstreamOptions = {}): Promise<UpstreamReply<UpstreamIdentity>> {
    return this.#run(server, options, ({ server: started }) => identityOf(started));
  }

  catalogue(server: string, options: UpstreamOptions = {}): Promise<UpstreamReply<readonly UpstreamTool[]>> {
    return this.#run(server, options, (entry) => {
      if (entry.server.listFailure !== undefined) throw new MemoryRpcError(-32603, entry.server.listFailure);
      entry.toolCount = entry.server.tools.length;
      return entry.server.tools.map((tool) => tool.definition);
    });
  }

  callTool(
    server: string,
    name: string,
    args: JsonObject,
    options: UpstreamOptions = {},
  ): Promise<UpstreamReply<ToolResult>> {
    return this.#run(server, options, async (entry, context) => {
      const tool = entry.server.tools.find(({ definition }) => definition.name === name);
      if (!tool) throw new MemoryRpcError(-32602, `Unknown tool: ${name}`);
      entry.callsInFlight += 1;
      try {
        return await tool.call(args, context);
      } finally {
        entry.callsInFlight -= 1;
      }
    });
  }

  request(
    server: string,
    method: string,
    params: JsonObject,
    options: UpstreamOptions = {},
  ): Promise<UpstreamReply<JsonObject>> {
    return this.#run(server, options, (entry, context) => {
      const handler = entry.server.requests?.[method] ?? (method === 'ping' ? () => ({}) : null);
      if (!handler) throw new MemoryRpcError(-32601, 'Method not found');
      return handler(params, context);
    });
  }

  async notify(server: string): Promise<boolean> {
    return this.#entries.get(server)?.state === 'ready';
  }

  subscribe(listener: (event: UpstreamEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async forgetClient(): Promise<void> {}

  restart(server: string): Promise<UpstreamReply<UpstreamIdentity>> {
    const entry = this.#entries.get(server);
    if (entry && !entry.disabled) this.#become(entry, 'idle');
    return this.start(server);
  }

  async reload(servers: readonly ServerSettings[]): Promise<UpstreamChanges> {
    const before = this.#entries;
    const added = servers.filter(({ name }) => !before.has(name)).map(({ name }) => name);
    const restarted: string[] = [];
    const adjusted: string[] = [];
    this.#entries = new Map();
    for (const settings of servers) {
      const { name, disabled, timeoutMs } = settings;
      const old = before.get(name);
      if (old?.disabled !== disabled) {
        this.#entries.set(name, entryOf(this.#installed.get(name) ?? missing(name), settings));
        if (old) restarted.push(name);
        continue;
      }
      if (old.timeoutMs !== timeoutMs) adjusted.push(name);
      old.timeoutMs = timeoutMs;
      this.#entries.set(name, old);
    }
    const removed = [...before.keys()].filter((name) => !this.#entries.has(name));
    return { added, removed, restarted, adjusted };
  }

  logs(): readonly string[] {
    return [];
  }

  async keep(
    server: string,
    user: string,
    credentials: UserCredentials | null,
  ): Promise<UpstreamReply<null>> {
    const entry = this.#entries.get(server);
    if (entry?.server.settings?.credentials !== 'per_user') {
      return failed('usage', 'VALIDATION', `All users share the credentials of server "${server}"`);
    }
    if (credentials) this.#kept.add(`${server} ${user}`);
    else this.#kept.delete(`${server} ${user}`);
    return { ok: true, value: null };
  }

  async login(server: string): Promise<UpstreamReply<UpstreamLogin>> {
    return failed('usage', 'VALIDATION', `Server "${server}" does not support login`);
  }

  async close(): Promise<void> {
    for (const entry of this.#entries.values()) this.#become(entry, 'idle');
  }

  async #run<T>(
    name: string,
    options: UpstreamOptions,
    run: (entry: Entry, context: MemoryContext) => T | Promise<T>,
  ): Promise<UpstreamReply<T>> {
    const entry = this.#entries.get(name);
    if (!entry) return failed('not_found', 'NOT_FOUND', `Server "${name}" not found`);
    if (entry.disabled) return failed('forbidden', 'PERMISSION', `Server "${name}" is disabled`);
    if (options.signal?.aborted) return cancelled(name);
    const isPersonal = options.user !== undefined && entry.server.settings?.credentials === 'per_user';
    if (isPersonal && !this.#kept.has(`${name} ${options.user}`)) {
      return failed(
        'unauthorized',
        'PERMISSION',
        `Server "${name}" needs credentials per user, and ${options.user} has none`,
      );
    }
    if (entry.server.startFailure) {
      this.#become(entry, 'failed', entry.server.startFailure);
      return { ok: false, error: entry.server.startFailure };
    }
    if (entry.state !== 'ready') {
      this.#become(entry, 'starting');
      this.#become(entry, 'ready');
    }
    const notify: MemoryContext['notify'] = (method, params) =>
      this.#emit({ type: 'notification', server: name, method, params, clientId: null, user: null });
    const timeoutMs = options.timeoutMs ?? entry.timeoutMs;
    return answerInTime({ ...options, server: name, timeoutMs, notify }, (context) => run(entry, context));
  }

  #become(entry: Entry, state: UpstreamState, error: UpstreamFailure | null = null): void {
    Object.assign(entry, { state, error, since: new Date() });
    this.#emit({ type: 'state', server: entry.server.name, state, error });
  }

  #emit(event: UpstreamEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function entryOf(server: MemoryServer, settings: { disabled?: boolean; timeoutMs?: number }): Entry {
  const { disabled = false, timeoutMs = DEFAULTS.timeoutMs } = settings;
  const state = disabled ? 'disabled' : 'idle';
  return {
    server,
    disabled,
    timeoutMs,
    state,
    since: new Date(),
    error: null,
    toolCount: null,
    callsInFlight: 0,
  };
}

function identityOf({ identity, tools }: MemoryServer): UpstreamIdentity {
  return {
    info: null,
    capabilities: tools.length > 0 ? { tools: {} } : {},
    instructions: null,
    protocolVersion: '2026-07-28',
    ...identity,
  };
}

function missing(name: string): MemoryServer {
  const message = `Server "${name}" cannot be reached: it is not there`;
  return { name, tools: [], startFailure: { code: 'upstream_unavailable', errorType: 'NETWORK', message } };
}
