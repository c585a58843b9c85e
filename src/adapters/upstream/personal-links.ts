import type {
  JsonObject,
  ServerSettings,
  TokenStore,
  UpstreamClient,
  UpstreamServer,
  UserCredentials,
} from '../../engine/ports.ts';
import type { ServerContext } from './server-life.ts';
import type { ServerLink } from './server-link.ts';

const DEFAULTS = {
  /** Most connections and processes of users; the one idle longest is closed first. */
  links: 64,
};

/** What is stored for a user: environment variables or headers, and a login. */
interface Kept {
  readonly given?: UserCredentials;
  readonly login?: JsonObject;
}

/** A client's session, and the client, which is asked for its roots. */
interface OwnSession {
  readonly session: string;
  readonly client: UpstreamClient | undefined;
}

/**
 * Servers that are not shared, for their state or because each user has their own credentials: one connection per user
 * or session, and one process for a stdio server. State changes of these links are not reported as the server's state.
 */
export class PersonalLinks {
  readonly #context: ServerContext;
  readonly #onSecrets: (values: readonly string[]) => void;
  /** By server and user, the most recently used last. */
  readonly #links = new Map<string, LazyLink>();
  /** Of sessions: the client as it last called. */
  readonly #clients = new Map<string, UpstreamClient>();

  constructor(context: ServerContext, onSecrets: (values: readonly string[]) => void) {
    this.#context = context;
    this.#onSecrets = onSecrets;
  }

  /** Null when the server needs credentials of each user, and this one has none. */
  async of(settings: ServerSettings, user: string, own: OwnSession | null = null): Promise<LazyLink | null> {
    const key = own ? `${keyOf(settings.name, user)}${SESSION}${own.session}` : keyOf(settings.name, user);
    if (own?.client) this.#clients.set(key, own.client);
    const known = this.#links.get(key);
    if (known) {
      this.#links.delete(key);
      this.#links.set(key, known);
      return known;
    }
    const needsOwn = settings.credentials === 'per_user';
    const kept = needsOwn
      ? ((await this.#context.tokens.get(keyOf(settings.name, user))) as Kept | null)
      : {};
    if (!kept) return null;
    const { env = {}, headers = {} } = kept.given ?? {};
    // Registered for redaction before any output can contain them.
    this.#onSecrets([...Object.values(env), ...Object.values(headers)]);
    await this.#makeRoom();
    const { emit } = this.#context;
    const context: ServerContext = {
      ...this.#context,
      ...(needsOwn && { tokens: this.tokensOf(user) }),
      ...(own && { rootsClient: () => this.#clients.get(key) }),
      // Notifications of a user's process only go to that user.
      emit: (event) => event.type === 'notification' && emit({ ...event, user }),
    };
    const link = this.#links.get(key) ?? new LazyLink(withCredentials(settings, env, headers), context);
    this.#links.set(key, link);
    return link;
  }

  /** One user's logins, by server. */
  tokensOf(user: string): TokenStore {
    const { tokens } = this.#context;
    const change = async (server: string, login: JsonObject | undefined) => {
      const { login: _, ...rest } = ((await tokens.get(keyOf(server, user))) ?? {}) as Kept;
      await tokens.set(keyOf(server, user), { ...rest, ...(login && { login }) });
    };
    return {
      get: async (server) => ((await tokens.get(keyOf(server, user))) as Kept | null)?.login ?? null,
      set: change,
      delete: (server) => change(server, undefined),
    };
  }

  /** Null deletes everything stored for the user, including the login. */
  async keep(server: string, user: string, given: UserCredentials | null): Promise<void> {
    const { tokens } = this.#context;
    const key = keyOf(server, user);
    if (given) await tokens.set(key, { ...(await tokens.get(key)), given });
    else await tokens.delete(key);
    await this.drop(server, user);
  }

  /** Closes the connection; the next request opens a new one. */
  async drop(server: string, user?: string): Promise<void> {
    const whole = keyOf(server, user ?? '');
    const isMeant = (key: string) =>
      user === undefined ? key.startsWith(whole) : key === whole || key.startsWith(`${whole}${SESSION}`);
    await this.#close([...this.#links.keys()].filter(isMeant));
  }

  async forgetClient(clientId: string): Promise<void> {
    // A client of the older era has the id of its session.
    await this.#close([...this.#links.keys()].filter((key) => key.endsWith(`${SESSION}${clientId}`)));
    await Promise.allSettled([...this.#links.values()].map((link) => link.opened?.forgetClient(clientId)));
  }

  async close(): Promise<void> {
    await this.#close([...this.#links.keys()]);
  }

  async #makeRoom(): Promise<void> {
    if (this.#links.size < DEFAULTS.links) return;
    const idle = [...this.#links].find(([, link]) => link.describe().callsInFlight === 0);
    if (idle) await this.#close([idle[0]]);
  }

  async #close(keys: readonly string[]): Promise<void> {
    const links = keys.map((key) => this.#links.get(key));
    for (const key of keys) {
      this.#links.delete(key);
      this.#clients.delete(key);
    }
    await Promise.all(links.map((link) => link?.close()));
  }
}

/** Before the session in a key; no name of a user contains it. */
const SESSION = '\n';

/** Server names contain no space. */
function keyOf(server: string, user: string): string {
  return `${server} ${user}`;
}

function withCredentials(
  settings: ServerSettings,
  env: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): ServerSettings {
  return settings.transport === 'stdio'
    ? { ...settings, env: { ...settings.env, ...env } }
    : { ...settings, headers: { ...settings.headers, ...headers } };
}

/**
 * A server that has had no request yet. The first request loads the protocol code, which takes a fifth of a
 * second and would slow down PML's start.
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
    // Closed while the code was loading: close the link too, or the server it starts would never be stopped.
    if (this.#closed) await this.#link.close();
    return this.#link;
  }

  /** Applies new limits; the settings that affect the start must be unchanged. */
  adjust(settings: ServerSettings): void {
    this.#settings = settings;
    this.#link?.adjust(settings);
  }

  describe(): UpstreamServer {
    if (this.#link) return this.#link.describe();
    const { name, transport, disabledReason } = this.#settings;
    return {
      name,
      transport,
      state: this.#settings.disabled ? 'disabled' : 'idle',
      since: this.#since,
      error: disabledReason === undefined ? null : { code: 'forbidden', message: disabledReason },
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
