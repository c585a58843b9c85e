import { basename, dirname } from 'node:path';
import { findNodeAtLocation, type JSONPath, type Node } from 'jsonc-parser';
import { nearestName } from '../../core/retrieval/words.ts';
import { propertiesOf } from './source-text.ts';

/** Where MCP clients have their servers: most clients, VS Code's mcp.json, VS Code's settings. */
const CLIENT_SERVERS: readonly JSONPath[] = [
  ['mcpServers'],
  ['servers'],
  ['mcp', 'servers'],
  ['mcp.servers'],
];

export interface ConfigForm {
  /** In PML's own file every key is checked; in a client's file, unknown keys belong to the client. */
  readonly ours: boolean;
  /** Path of the object with the servers; null if there is none. */
  readonly servers: JSONPath | null;
}

/** Ours if it is called pml.json, has a `pml` key or names our schema. */
export function recogniseForm(file: string, root: Node): ConfigForm {
  const schema = findNodeAtLocation(root, ['$schema'])?.value;
  const ours =
    basename(file) === 'pml.json' ||
    findNodeAtLocation(root, ['pml']) !== undefined ||
    (typeof schema === 'string' && schema.endsWith('pml.schema.json'));
  const places = ours ? CLIENT_SERVERS.slice(0, 1) : CLIENT_SERVERS;
  return { ours, servers: places.find((path) => findNodeAtLocation(root, path) !== undefined) ?? null };
}

/** A top-level key that is probably a misspelt `pml`: ignoring it would drop the user's rules. */
export function misspeltPml(root: Node): Node | undefined {
  return propertiesOf(root).find(({ key }) => nearestName(key, ['pml']) !== null)?.keyNode;
}

/** Variables that Cursor and VS Code define for their files; a project's file is in .vscode or .cursor. */
export function clientVariables(file: string, home: string): Record<string, string> {
  const folder = dirname(file);
  const workspace = ['.vscode', '.cursor'].includes(basename(folder)) ? dirname(folder) : folder;
  const separator = process.platform === 'win32' ? '\\' : '/';
  return {
    userHome: home,
    workspaceFolder: workspace,
    workspaceFolderBasename: basename(workspace),
    pathSeparator: separator,
    '/': separator,
  };
}

/** Keys that `fromClientEntry` reads. */
const READ_KEYS = new Set(
  'type command args cwd env url serverUrl httpUrl headers auth oauth disabled enabled tools includeTools excludeTools disabledTools'.split(
    ' ',
  ),
);

/** Whether a part of a client's file concerns PML; errors elsewhere are ignored. */
export function isReadByUs(path: JSONPath, { servers }: ConfigForm): boolean {
  const key = path[(servers?.length ?? 0) + 1];
  return key === undefined || READ_KEYS.has(String(key));
}

type Entry = Readonly<Record<string, unknown>>;

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
