export type Entry = Readonly<Record<string, unknown>>;

/** How a client starts PML, from any folder. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** How a client writes a server. `common` is the form of `mcpServers` that most clients share. */
interface EntryForm {
  /** The server in the common form; null for a part of the client itself, which is not an MCP server. */
  read(entry: Entry): Entry | null;
  /** The entry that starts PML. */
  write(launch: Launch, name: string): Entry;
}

/**
 * Which variables a client substitutes: none; `${X}`; `${env:X}` and folders; `$X` and `${X}`; `{env:X}`. PML itself
 * reads `${X}`.
 */
export type Variables = 'none' | 'shell' | 'editor' | 'dollar' | 'opencode';

const common: EntryForm = {
  read: (entry) => entry,
  write: ({ command, args }) => ({ command, args }),
};

const FORMS = {
  common,

  /** Claude Code hides the tools of a server until its model searches for them, PML's search tool included. */
  'claude-code': {
    ...common,
    write: (launch, name) => ({ ...common.write(launch, name), alwaysLoad: true }),
  },

  vscode: { ...common, write: (launch, name) => ({ type: 'stdio', ...common.write(launch, name) }) },

  gemini: common,

  /** Copilot offers no tool of a server that names none. */
  copilot: {
    read: ({ tools, ...entry }) => (isEverything(tools) ? entry : { ...entry, tools }),
    write: (launch, name) => ({ type: 'local', ...common.write(launch, name), tools: ['*'] }),
  },

  /** The command line's wizard nests what reaches the server; the editor's file does not. */
  cline: {
    ...common,
    read: ({ transport, ...entry }) => ({ ...entry, ...object(transport) }),
  },

  /** Older files have `command: {path, args, env}`; servers of extensions have settings only. */
  zed: {
    ...common,
    read({ command, source: _, settings: __, ...entry }) {
      if (command === undefined && entry.url === undefined) return null;
      const { path, ...rest } = object(command);
      return { ...entry, ...rest, ...(command !== undefined && { command: path ?? command }) };
    },
  },

  /** Command and arguments are one list, and variables are called `environment`. */
  opencode: {
    read(entry) {
      const { command, environment, oauth, enabled, disabled } = entry;
      // A server that an organisation defines and this file only switches on or off.
      if (command === undefined && entry.url === undefined) return null;
      const [program, ...args] = Array.isArray(command) ? command : [command];
      return {
        ...Object.fromEntries(['url', 'headers', 'cwd'].flatMap((key) => present(entry, key))),
        ...(program !== undefined && { command: program, args }),
        ...(environment !== undefined && { env: environment }),
        ...(typeof oauth === 'object' && { oauth }),
        disabled: disabled ?? enabled === false,
      };
    },
    write: ({ command, args }) => ({ type: 'local', command: [command, ...args] }),
  },

  /** goose has separate keys for variables, which may be in its keyring. */
  goose: {
    read(entry) {
      const { type, cmd, uri, headers, envs, env_keys, available_tools, enabled } = entry;
      if (!['stdio', 'sse', 'streamable_http'].includes(String(type))) return null;
      const env = { ...forwarded(env_keys), ...object(envs) };
      const values = Object.entries(object(envs));
      const filled = (text: unknown) =>
        values.reduce((so, [key, value]) => so.replaceAll(variable(key), String(value)), String(text));
      return {
        ...Object.fromEntries(present(entry, 'args')),
        ...(cmd !== undefined && { command: cmd, ...(Object.keys(env).length > 0 && { env }) }),
        ...(uri !== undefined && { url: filled(uri), ...(type === 'sse' && { type }) }),
        ...(Object.keys(object(headers)).length > 0 && {
          headers: Object.fromEntries(
            Object.entries(object(headers)).map(([key, text]) => [key, filled(text)]),
          ),
        }),
        ...(Array.isArray(available_tools) &&
          available_tools.length > 0 && { includeTools: available_tools }),
        disabled: enabled === false,
      };
    },
    write: ({ command, args }, name) => ({
      enabled: true,
      type: 'stdio',
      name,
      description: 'All your tools: search, code, routines',
      cmd: command,
      args,
      timeout: 300,
    }),
  },

  /** Codex has separate keys for variables and headers. */
  codex: {
    ...common,
    read(entry) {
      const env = { ...forwarded(entry.env_vars), ...object(entry.env) };
      const fromVariables = Object.entries(object(entry.env_http_headers));
      const headers = {
        ...object(entry.http_headers),
        ...Object.fromEntries(fromVariables.map(([header, name]) => [header, variable(String(name))])),
      };
      return {
        ...Object.fromEntries(
          ['command', 'args', 'cwd', 'url', 'enabled'].flatMap((key) => present(entry, key)),
        ),
        ...(Object.keys(env).length > 0 && { env }),
        ...(Object.keys(headers).length > 0 && { headers }),
        ...(typeof entry.bearer_token_env_var === 'string' && {
          auth: { kind: 'bearer', token: variable(entry.bearer_token_env_var) },
        }),
        ...(Array.isArray(entry.enabled_tools) && { includeTools: entry.enabled_tools }),
        ...(Array.isArray(entry.disabled_tools) && { excludeTools: entry.disabled_tools }),
      };
    },
  },
} satisfies Readonly<Record<string, EntryForm>>;

export type Dialect = keyof typeof FORMS;

export const ENTRY_FORMS: Readonly<Record<Dialect, EntryForm>> = FORMS;

/** An unclosed placeholder extends to the end, so that the search stays linear. */
const PLACEHOLDER = /\$\{([^}]*)(\}|$)/g;

/** `known` are the client's folder variables. Environment variables become `${X}`, as PML reads them. */
export function fillIn(entry: Entry, variables: Variables, known: Readonly<Record<string, string>>): Entry {
  const change: Readonly<Record<Variables, (text: string) => string>> = {
    none: literal,
    shell: (text) => text,
    editor: (text) => fillPlaceholders(text, (inner, written) => known[inner] ?? written),
    dollar: (text) => text.replace(/\$(\w+)/g, (_, name: string) => variable(name)),
    // What is not a variable stays as it is: `{file:…}` is refused elsewhere.
    opencode: (text) => literal(text).replace(/\{env:(\w+)\}/g, (_, name: string) => variable(name)),
  };
  return mapText(entry, change[variables]) as Entry;
}

/** Whether an entry uses opencode's `{file:…}`. */
export function readsFile(entry: Entry): boolean {
  return /\{file:/.test(JSON.stringify(entry));
}

function isEverything(tools: unknown): boolean {
  return tools === undefined || (Array.isArray(tools) && tools.includes('*'));
}

/** Variables that a client passes on by name: `"TOKEN"`, or `{ name = "TOKEN", source = "local" }`. */
function forwarded(names: unknown): Entry {
  if (!Array.isArray(names)) return {};
  return Object.fromEntries(
    names.map((item) => String(object(item).name ?? item)).map((name) => [name, variable(name)]),
  );
}

function variable(name: string): string {
  return `\${${name}}`;
}

function object(value: unknown): Entry {
  return typeof value === 'object' && value !== null ? (value as Entry) : {};
}

function present(entry: Entry, key: string): [string, unknown][] {
  return entry[key] === undefined ? [] : [[key, entry[key]]];
}

/** A copy with every string changed; keys stay. */
function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapText(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapText(item, change)]));
}

/** Replaces every `${…}`. */
function fillPlaceholders(text: string, fill: (inner: string, written: string) => string): string {
  return text.replace(PLACEHOLDER, (written, inner: string, end) =>
    end === '' ? written : fill(inner, written),
  );
}

/** Escapes `text` so that PML reads `${X}` literally: for clients without variables. */
function literal(text: string): string {
  return fillPlaceholders(text, (_, written) => `$${written}`);
}

const STDIO_KEYS = ['command', 'args', 'cwd'] as const;

/**
 * Converts a client's entry to ours: how to reach the server, whether it is disabled, and which tools it may
 * offer. Everything else (approvals, timeouts in the client's units, galleries) is dropped.
 */
export function fromClientEntry(entry: unknown): unknown {
  if (!isEntry(entry)) return entry;
  const url = entry.url ?? entry.serverUrl ?? entry.httpUrl;
  const reach =
    entry.command === undefined && url !== undefined
      ? {
          url,
          ...(entry.type === 'sse' && { type: 'sse' }),
          ...(entry.headers != null && { headers: entry.headers }),
          ...clientAuth(entry),
        }
      : {
          ...Object.fromEntries(STDIO_KEYS.flatMap((key) => (entry[key] == null ? [] : [[key, entry[key]]]))),
          ...(entry.env != null && { env: isEntry(entry.env) ? stringValues(entry.env) : entry.env }),
        };
  return {
    ...reach,
    disabled: entry.disabled ?? entry.enabled === false,
    tools: clientTools(entry),
  };
}

/** Copilot's `tools` list, Gemini's `includeTools`/`excludeTools`, Roo's and Windsurf's `disabledTools`. */
function clientTools(entry: Entry): unknown {
  if (isEntry(entry.tools)) return entry.tools;
  const include = entry.includeTools ?? entry.tools;
  const exclude = entry.excludeTools ?? entry.disabledTools;
  return {
    ...(Array.isArray(include) && { include }),
    ...(Array.isArray(exclude) && { exclude }),
  };
}

/** Cursor's `auth` and Claude Code's `oauth`: a pre-registered client for a login in the browser. */
function clientAuth({ auth, oauth }: Entry): { auth?: unknown } {
  if (isEntry(auth) && 'kind' in auth) return { auth };
  const id = isEntry(auth) ? auth.CLIENT_ID : isEntry(oauth) ? oauth.clientId : undefined;
  if (id === undefined) return {};
  const secret = isEntry(auth) ? auth.CLIENT_SECRET : undefined;
  const scopes = isEntry(auth) ? auth.scopes : isEntry(oauth) ? oauth.scopes : undefined;
  const scope = Array.isArray(scopes) ? scopes.join(' ') : scopes;
  return {
    auth: {
      kind: 'authorization_code',
      client_id: id,
      ...(secret !== undefined && { client_secret: secret }),
      ...(scope !== undefined && scope !== '' && { scope }),
    },
  };
}

/** Some clients accept numbers and booleans as values of variables. */
function stringValues(env: Entry): Entry {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value,
    ]),
  );
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
