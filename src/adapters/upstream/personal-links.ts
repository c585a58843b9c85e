import type {
  JsonObject,
  ServerSettings,
  TokenStore,
  UpstreamServer,
  UserCredentials,
} from '../../engine/ports.ts';
import type { ServerContext } from './server-life.ts';
import type { ServerLink } from './server-link.ts';

const DEFAULTS = {
  /** Users' own connections and processes at the most; the one that was idle longest makes room. */
  links: 64,
};

/** What is kept of a user: values given for a program or an address, and a login. */
interface Kept {
  readonly given?: UserCredentials;
  readonly login?: JsonObject;
}

/**
 * Servers that each user reaches with credentials of their own: a connection, and for a program a process, per user.
 * What they say of their state is not told on, since the server itself is another.
 */
export class PersonalLinks {
  readonly #context: ServerContext;
  readonly #onSecrets: (values: readonly string[]) => void;
  /** By server and user, the one used last at the end. */
  readonly #links = new Map<string, LazyLink>();

  constructor(context: ServerContext, onSecrets: (values: readonly string[]) => void) {
    this.#context = context;
    this.#onSecrets = onSecrets;
  }

  /** Null when nothing is kept of this user for this server. */
  async of(settings: ServerSettings, user: string): Promise<LazyLink | null> {
    const key = keyOf(settings.name, user);
    const known = this.#links.get(key);
    if (known) {
      this.#links.delete(key);
      this.#links.set(key, known);
      return known;
    }
    const kept = (await this.#context.tokens.get(key)) as Kept | null;
    if (!kept) return null;
    const { env = {}, headers = {} } = kept.given ?? {};
    // Before anything can say them.
    this.#onSecrets([...Object.values(env), ...Object.values(headers)]);
    await this.#makeRoom();
    const { emit } = this.#context;
    const context: ServerContext = {
      ...this.#context,
      tokens: this.tokensOf(user),
      // Whatever one user's process says is that user's.
      emit: (event) => event.type === 'notification' && emit({ ...event, user }),
    };
    const link = this.#links.get(key) ?? new LazyLink(withCredentials(settings, env, headers), context);
    this.#links.set(key, link);
    return link;
  }

  /** The logins of one user, by server. */
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

  /** Null: forgets everything that is kept of the user, the login too. */
  async keep(server: string, user: string, given: UserCredentials | null): Promise<void> {
    const { tokens } = this.#context;
    const key = keyOf(server, user);
    if (given) await tokens.set(key, { ...(await tokens.get(key)), given });
    else await tokens.delete(key);
    await this.drop(server, user);
  }

  /** The next request makes a new connection. */
  async drop(server: string, user?: string): Promise<void> {
    const isMeant = (key: string) =>
      user === undefined ? key.startsWith(keyOf(server, '')) : key === keyOf(server, user);
    await this.#close([...this.#links.keys()].filter(isMeant));
  }

  async forgetClient(clientId: string): Promise<void> {
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
    for (const key of keys) this.#links.delete(key);
    await Promise.all(links.map((link) => link?.close()));
  }
}

/** No server's name has a space in it. */
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
