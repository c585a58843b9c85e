import type {
  Clock,
  JsonObject,
  Logger,
  ServerSettings,
  TokenStore,
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
  UpstreamTool,
  UserCredentials,
} from '../../engine/ports.ts';
import { LazyLink, PersonalLinks } from './personal-links.ts';
import { ChildRegistry } from './process-tree.ts';
import type { BackoffOptions, ServerContext } from './server-life.ts';
import type { ServerLink } from './server-link.ts';

const DEFAULTS = { backoff: { baseMs: 500, maxMs: 60_000 } };

export interface McpUpstreamOptions {
  readonly servers: readonly ServerSettings[];
  /** Directory of the process records; call `reapOrphans` on it first. */
  readonly dataDir: string;
  readonly tokens: TokenStore;
  /** Receives users' own secrets, for redaction, before any output can contain them. */
  readonly onSecrets?: (values: readonly string[]) => void;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  /** Our name and version, as sent to servers. */
  readonly info: { readonly name: string; readonly version: string };
  readonly backoff?: BackoffOptions;
  /** Milliseconds from a server's start to its first response. */
  readonly startMs?: number;
  /** Milliseconds a server has to show that it belongs to the 2026-07-28 era. */
  readonly probeMs?: number;
  /** Milliseconds processes have to end before they are killed. */
  readonly graceMs?: number;
}

/** The MCP servers of the configuration, through the official SDK. */
export class McpUpstream implements Upstream {
  readonly #context: ServerContext;
  readonly #registry: ChildRegistry;
  readonly #listeners = new Set<(event: UpstreamEvent) => void>();
  readonly #personal: PersonalLinks;
  #links = new Map<string, LazyLink>();

  constructor(options: McpUpstreamOptions) {
    this.#registry = new ChildRegistry(options.dataDir);
    this.#context = {
      ...options,
      backoff: options.backoff ?? DEFAULTS.backoff,
      registry: this.#registry,
      emit: (event) => this.#emit(event),
    };
    this.#personal = new PersonalLinks(this.#context, options.onSecrets ?? (() => {}));
    for (const settings of options.servers) this.#add(settings);
  }

  servers(): readonly UpstreamServer[] {
    return [...this.#links.values()].map((link) => link.describe());
  }

  start(server: string, options: UpstreamOptions = {}): Promise<UpstreamReply<UpstreamIdentity>> {
    return this.#reply(server, options, (link) => link.start(options));
  }

  catalogue(server: string, options: UpstreamOptions = {}): Promise<UpstreamReply<readonly UpstreamTool[]>> {
    return this.#reply(server, options, (link) => link.tools(options) as Promise<readonly UpstreamTool[]>);
  }

  callTool(
    server: string,
    tool: string,
    args: JsonObject,
    options: UpstreamOptions = {},
  ): Promise<UpstreamReply<ToolResult>> {
    const params = { ...options.extraParams, name: tool, arguments: args };
    return this.#reply(server, options, (link) => link.callTool(params, options));
  }

  request(
    server: string,
    method: string,
    params: JsonObject,
    options: UpstreamOptions = {},
  ): Promise<UpstreamReply<JsonObject>> {
    return this.#reply(server, options, (link) => link.request(method, params, options));
  }

  async notify(server: string, method: string, params: JsonObject, user: string): Promise<boolean> {
    const shared = this.#links.get(server);
    const link = shared && (await this.#linkOf(shared, { user }));
    return (await link?.opened?.notify(method, params)) ?? false;
  }

  subscribe(listener: (event: UpstreamEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async forgetClient(clientId: string): Promise<void> {
    // A failure here is ignored: the server's next call will report it.
    await Promise.allSettled([...this.#links.values()].map((link) => link.opened?.forgetClient(clientId)));
    await this.#personal.forgetClient(clientId);
  }

  async restart(server: string): Promise<UpstreamReply<UpstreamIdentity>> {
    await this.#personal.drop(server);
    return await this.#reply(server, {}, (link) => link.restart());
  }

  async reload(servers: readonly ServerSettings[]): Promise<UpstreamChanges> {
    const before = this.#links;
    const changes = { added: [], removed: [], restarted: [], adjusted: [] } as Record<
      keyof UpstreamChanges,
      string[]
    >;
    const replaced: LazyLink[] = [];
    this.#links = new Map();
    for (const settings of servers) {
      const link = before.get(settings.name);
      if (link && startsAlike(link.settings, settings)) {
        this.#links.set(settings.name, link);
        if (JSON.stringify(link.settings) !== JSON.stringify(settings)) changes.adjusted.push(settings.name);
        link.adjust(settings);
      } else {
        this.#add(settings);
        if (link) replaced.push(link);
        (link ? changes.restarted : changes.added).push(settings.name);
      }
    }
    const gone = [...before].filter(([name]) => !this.#links.has(name));
    changes.removed.push(...gone.map(([name]) => name));
    const { removed, restarted, adjusted } = changes;
    await Promise.all([
      ...[...replaced, ...gone.map(([, link]) => link)].map((link) => link.close()),
      ...[...removed, ...restarted, ...adjusted].map((name) => this.#personal.drop(name)),
    ]);
    return changes;
  }

  logs(server: string): readonly string[] {
    return this.#links.get(server)?.opened?.logs() ?? [];
  }

  login(server: string, redirectUrl: string, user?: string): Promise<UpstreamReply<UpstreamLogin>> {
    return this.#reply(server, {}, async (link) => {
      const { beginLogin } = await import('./begin-login.ts');
      const { settings } = link;
      const isOwn = user !== undefined;
      if (isOwn) await refuseShared(settings, user);
      const tokens = isOwn ? this.#personal.tokensOf(user) : this.#context.tokens;
      // The next request opens a new connection with the new token.
      const onDone = () => (isOwn ? this.#personal.drop(server, user) : link.drop());
      return beginLogin({ settings, tokens, redirectUrl, onDone });
    });
  }

  keep(server: string, user: string, credentials: UserCredentials | null): Promise<UpstreamReply<null>> {
    return this.#reply(server, {}, async (link) => {
      await refuseShared(link.settings, user);
      await this.#personal.keep(server, user, credentials);
      return null;
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#personal.close(), ...[...this.#links.values()].map((link) => link.close())]);
    this.#registry.close();
  }

  #add(settings: ServerSettings): void {
    this.#links.set(settings.name, new LazyLink(settings, this.#context));
  }

  #emit(event: UpstreamEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** The link of the user or session where the server is not shared; null if it needs credentials that the user lacks. */
  async #linkOf(
    shared: LazyLink,
    { user, session, client }: Pick<UpstreamOptions, 'user' | 'session' | 'client'>,
  ): Promise<LazyLink | null> {
    const { credentials, isolation } = shared.settings;
    if (user === undefined || (credentials !== 'per_user' && isolation === undefined)) return shared;
    const own = isolation === 'session' && session !== undefined ? { session, client } : null;
    return await this.#personal.of(shared.settings, user, own);
  }

  async #reply<T>(
    server: string,
    options: UpstreamOptions,
    run: (link: ServerLink) => Promise<T>,
  ): Promise<UpstreamReply<T>> {
    const shared = this.#links.get(server);
    if (!shared) return { ok: false, error: unknownServer(server, [...this.#links.keys()]) };
    try {
      const link = await this.#linkOf(shared, options);
      if (!link) return { ok: false, error: noCredentials(server, options.user ?? '') };
      return { ok: true, value: await run(await link.open()) };
    } catch (error) {
      if (options.signal?.aborted) return { ok: false, error: cancelled(server) };
      const { failureOf } = await import('./failure.ts');
      return { ok: false, error: failureOf(server, error) };
    }
  }
}

/** Limits and filters apply on our side; all other settings affect how the server is started or reached. */
function startsAlike(a: ServerSettings, b: ServerSettings): boolean {
  const how = (settings: ServerSettings) => {
    const { tools: _, timeoutMs: __, concurrency: ___, rename: ____, describe: _____, ...rest } = settings;
    return JSON.stringify({ ...rest, idleStopMs: undefined });
  };
  return how(a) === how(b);
}

/** Refuses credentials that would never be used because the server is shared. */
async function refuseShared({ name, credentials }: ServerSettings, user: string): Promise<void> {
  if (credentials === 'per_user') return;
  const { UpstreamFault } = await import('./failure.ts');
  throw new UpstreamFault({
    code: 'usage',
    errorType: 'VALIDATION',
    message: `All users, including ${user}, share the credentials of server "${name}"`,
    hint: 'To change that, set "credentials": "per_user" for it in the configuration.',
  });
}

function noCredentials(server: string, user: string): UpstreamFailure {
  return {
    code: 'unauthorized',
    errorType: 'PERMISSION',
    message: `Server "${server}" needs credentials per user, and ${user} has none`,
    hint: `Run "pml servers login ${server} --user ${user}" on the gateway's machine.`,
  };
}

function unknownServer(server: string, known: readonly string[]): UpstreamFailure {
  return {
    code: 'not_found',
    errorType: 'NOT_FOUND',
    message: `Server "${server}" not found`,
    hint: known.length === 0 ? 'No server is configured.' : `Configured servers: ${known.join(', ')}.`,
  };
}

function cancelled(server: string): UpstreamFailure {
  return {
    code: 'cancelled',
    errorType: 'UNKNOWN',
    message: `The request to server "${server}" was cancelled`,
  };
}
