import { resolve } from 'node:path';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { isServerName } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { fromClientEntry } from '../client-form.ts';
import { readConfig } from '../read-config.ts';
import type { ClientPlace, Machine } from './client-places.ts';
import { type Entries, type Entry, SERVERS_FORMATS } from './servers-format.ts';

interface ServerMerge {
  /** Takes a server in, unless it is there already. */
  add(move: Move): { readonly name: string; readonly isNew: boolean };
  /** What was not there before. */
  readonly added: Entries;
}

/** The name under which clients know PML. */
const OWN_NAME = 'pml';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]', '::1']);

const PROGRAM = /(?:^|[\\/])pml(?:-gateway)?(?:\.cmd|\.exe|\.ps1)?$/i;

const LAUNCHER = /(?:^|[\\/])bin[\\/]pml\.js$/i;

const PACKAGE = /^pml-gateway(?:@.+)?$/;

/** How a client starts PML, wherever and whenever it does. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Move {
  /** As the client calls it. */
  readonly name: string;
  readonly entry: Entry;
  readonly place: ClientPlace;
}

interface Surroundings {
  readonly machine: Machine;
  readonly launch: Launch;
  /** Where PML listens. */
  readonly ports: readonly number[];
}

/** One list of servers with PML in their place: the text afterwards, and the servers that went. */
export function rewire(
  text: string,
  place: ClientPlace,
  { machine, launch, ports }: Surroundings,
): { text: string; moves: Move[]; notes: string[] } {
  const format = SERVERS_FORMATS[place.format];
  const servers = format.read(place.file, text, place.path) ?? {};
  const moves: Move[] = [];
  const notes: string[] = [];
  let isWired = false;
  for (const [name, entry] of Object.entries(servers)) {
    const own = ownEntry(entry, ports);
    // Somebody's own entry for PML does as well as ours.
    if (own === 'gateway' && name !== OWN_NAME) isWired = true;
    if (own !== null) continue;
    const imported = importEntry(name, entry, place, machine);
    if ('stays' in imported) notes.push(`"${name}" stays with ${place.label}: ${imported.stays}.`);
    else moves.push({ name, entry: imported.entry, place });
  }
  const wants =
    place.wired && !isWired && (place.project === null || moves.length > 0 || OWN_NAME in servers);
  const remove = moves.map(({ name }) => name);
  const set = wants ? { [OWN_NAME]: launchEntry(launch, place) } : {};
  return { text: format.change(place.file, text, place.path, { remove, set }), moves, notes };
}

function launchEntry({ command, args }: Launch, { client }: ClientPlace): Entry {
  return { ...(client === 'vscode' && { type: 'stdio' }), command, args };
}

/**
 * Whether an entry of a client is PML itself, which must never stand behind itself: `gateway` reaches
 * all of it, `endpoint` one server through it. `ports` are those that PML listens on.
 */
function ownEntry(entry: Entry, ports: readonly number[]): 'gateway' | 'endpoint' | null {
  const args = Array.isArray(entry.args) ? entry.args.map(String) : [];
  const command = typeof entry.command === 'string' ? entry.command : '';
  const isStdio = args.includes('stdio');
  if (PROGRAM.test(command) && isStdio) return 'gateway';
  if (args.some((arg) => LAUNCHER.test(arg) || PACKAGE.test(arg)) && isStdio) return 'gateway';
  const address = entry.url ?? entry.serverUrl ?? entry.httpUrl;
  if (command !== '' || typeof address !== 'string' || !URL.canParse(address)) return null;
  const { hostname, port, pathname } = new URL(address);
  if (!LOOPBACK.has(hostname) || !ports.includes(Number(port || 80))) return null;
  return pathname.startsWith('/mcp/servers/') ? 'endpoint' : 'gateway';
}

/** The servers of several clients in one list: what is the same once, what differs under two names. */
export function mergeServers(present: Entries): ServerMerge {
  const added: Record<string, Entry> = {};
  return {
    added,
    add({ name: written, entry, place: { client } }) {
      const names = candidates(serverName(written), client ?? 'imported');
      for (const name of names) {
        const other = added[name] ?? present[name];
        if (other && !reachesTheSame(other, entry)) continue;
        // Switched off by one client and used by another: it is used.
        if (!other || (added[name]?.disabled && !entry.disabled)) added[name] = entry;
        return { name, isNew: !other };
      }
      throw new Error('There is always one more candidate.');
    },
  };
}

/** github, github-cursor, github-cursor-2, … */
function* candidates(base: string, client: string): Generator<string> {
  yield base;
  yield `${base}-${client}`;
  for (let count = 2; ; count++) yield `${base}-${client}-${count}`;
}

/** Limits and being switched off are how a server is used, not which one it is. */
function reachesTheSame(a: Entry, b: Entry): boolean {
  return canonicalJson(reachOf(a)) === canonicalJson(reachOf(b));
}

function reachOf({ command, args, env, cwd, url, headers, auth, type }: Entry): unknown {
  return [command, args ?? [], env ?? {}, cwd, url, headers ?? {}, auth, type === 'sse'];
}

/** One that is not closed goes to the end, so that its end is looked for once. */
const PLACEHOLDER = /\$\{([^}]*)(\}|$)/g;

/** What only the client itself can do for a server. */
const CLIENT_ONLY: Readonly<Record<string, string>> = {
  envFile: 'reads variables from a file ("envFile")',
  headersHelper: 'makes its headers with a program ("headersHelper")',
};

type Imported = { readonly entry: Entry } | { readonly stays: string };

/** A client's server as it stands in pml.json; or why it can only stay with the client. */
function importEntry(name: string, entry: Entry, place: ClientPlace, machine: Machine): Imported {
  for (const [key, why] of Object.entries(CLIENT_ONLY)) if (entry[key] !== undefined) return { stays: why };
  const written = place.format === 'toml' ? fromCodexEntry(entry) : fillIn(entry, place, machine);
  const { disabled, tools, ...reach } = fromClientEntry(written) as Entry;
  const imported = {
    ...reach,
    ...startFolder(reach, place, machine),
    ...(disabled === true && { disabled }),
    ...(Object.keys(tools ?? {}).length > 0 && { tools }),
  };
  const problem = problemOf(name, imported, machine);
  return problem === null ? { entry: imported } : { stays: problem };
}

/** The name it can have in PML, if its own will not do. */
function serverName(name: string): string {
  if (isServerName(name)) return name;
  const spelt = name.normalize('NFKD').replace(/[^A-Za-z0-9_.-]+/g, '-');
  const plain = withoutEnding(spelt.replace(/^[^A-Za-z0-9]+/, ''), '-');
  return isServerName(plain) ? plain : `${plain === '' ? 'my' : plain}-server`;
}

/** Folders that the client knows become what they are; variables of the environment stay as written. */
function fillIn(entry: Entry, { variables, project }: ClientPlace, { home, platform }: Machine): Entry {
  const separator = platform === 'win32' ? '\\' : '/';
  const known: Record<string, string> = { userHome: home, pathSeparator: separator, '/': separator };
  if (project !== null) {
    known.workspaceFolder = project;
    known.workspaceFolderBasename = project.split(/[\\/]/).at(-1) ?? '';
  }
  return mapText(entry, (text) => {
    if (variables === 'none') return literal(text);
    if (variables === 'shell') return text;
    return fillPlaceholders(text, (inner, written) => known[inner] ?? written);
  }) as Entry;
}

/** Clients start a project's servers in the project; PML may be started anywhere. */
function startFolder(reach: Entry, { project }: ClientPlace, { home }: Machine): { cwd?: string } {
  if (reach.command === undefined) return {};
  const { cwd } = reach;
  if (project !== null) return { cwd: resolve(project, typeof cwd === 'string' ? cwd : '.') };
  return typeof cwd === 'string' && !cwd.startsWith('~') ? { cwd: resolve(home, cwd) } : {};
}

/** What PML's own reader would say about it. */
function problemOf(name: string, entry: Entry, { env, home }: Machine): string | null {
  try {
    readConfig('pml.json', JSON.stringify({ mcpServers: { [serverName(name)]: entry } }), { env, home });
    return null;
  } catch (error) {
    const { message } = PmlError.from(error);
    const lines = message.split('\n').filter((line) => /^pml\.json:\d/.test(line));
    return lines.map((line) => line.replace(/^\S+ (?:mcpServers\.[^ ]*?\.)?/, '')).join('; ') || message;
  }
}

/** A table of Codex in the form that other clients write. Its variables stand in keys of their own. */
function fromCodexEntry(written: Entry): Entry {
  const entry = mapText(written, literal) as Entry;
  const forwarded = Array.isArray(entry.env_vars) ? entry.env_vars.map(variableName) : [];
  const env = {
    ...Object.fromEntries(forwarded.map((name) => [name, variable(name)])),
    ...object(entry.env),
  };
  const fromVariables = Object.entries(object(entry.env_http_headers));
  const headers = {
    ...object(entry.http_headers),
    ...Object.fromEntries(fromVariables.map(([header, name]) => [header, variable(String(name))])),
  };
  return {
    ...Object.fromEntries(['command', 'args', 'cwd', 'url', 'enabled'].flatMap((key) => present(entry, key))),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(typeof entry.bearer_token_env_var === 'string' && {
      auth: { kind: 'bearer', token: variable(entry.bearer_token_env_var) },
    }),
    ...(Array.isArray(entry.enabled_tools) && { includeTools: entry.enabled_tools }),
    ...(Array.isArray(entry.disabled_tools) && { excludeTools: entry.disabled_tools }),
  };
}

/** `"TOKEN"`, or `{ name = "TOKEN", source = "local" }`. */
function variableName(item: unknown): string {
  return String(typeof item === 'object' && item !== null ? (item as Entry).name : item);
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

/** A copy with every text in it changed; keys stay. */
function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapText(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapText(item, change)]));
}

/** Puts something in the place of every `${…}`. */
function fillPlaceholders(text: string, fill: (inner: string, written: string) => string): string {
  return text.replace(PLACEHOLDER, (written, inner: string, end) =>
    end === '' ? written : fill(inner, written),
  );
}

/** A text that PML reads as `text`, `${X}` included: for clients that fill nothing in. */
function literal(text: string): string {
  return fillPlaceholders(text, (_, written) => `$${written}`);
}
