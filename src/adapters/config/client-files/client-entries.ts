import { resolve } from 'node:path';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { isServerName } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { readConfig } from '../read-config.ts';
import {
  ENTRY_FORMS,
  type Entry,
  fillIn,
  fromClientEntry,
  type Launch,
  readsFile,
} from './client-dialects.ts';
import type { ClientPlace, Machine } from './client-places.ts';
import { type Entries, SERVERS_FORMATS } from './servers-format.ts';

interface ServerMerge {
  /** Adds a server unless it is already present. */
  add(move: Move): { readonly name: string; readonly isNew: boolean };
  /** The servers that were not present before. */
  readonly added: Entries;
}

/** PML's names in the clients' files; a project's must not hide the one for everywhere. */
const OWN_NAMES = { everywhere: 'pml', project: 'pml-project' };

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]', '::1']);

const PROGRAM = /(?:^|[\\/])pml(?:-gateway)?(?:\.cmd|\.exe|\.ps1)?$/i;

const LAUNCHER = /(?:^|[\\/])bin[\\/]pml\.js$/i;

const PACKAGE = /^pml-gateway(?:@.+)?$/;

export interface Move {
  /** The client's name for the server. */
  readonly name: string;
  readonly entry: Entry;
  readonly place: ClientPlace;
  /** Tools that the client called without asking; `*` for all. */
  readonly approved: readonly string[];
}

interface Surroundings {
  readonly machine: Machine;
  readonly launch: Launch;
  /** The ports PML listens on. */
  readonly ports: readonly number[];
  /** Whether the client has a server switched off elsewhere in its settings. */
  readonly isOff: (name: string) => boolean;
}

/** A list of servers with PML in their place: the new text, and the servers that were removed. */
export function rewire(
  text: string,
  place: ClientPlace,
  { machine, launch, ports, isOff }: Surroundings,
): { text: string; moves: Move[]; notes: string[] } {
  const format = SERVERS_FORMATS[place.format];
  const servers = format.read(place.file, text, place.path) ?? {};
  const own = place.project === null ? OWN_NAMES.everywhere : OWN_NAMES.project;
  const moves: Move[] = [];
  const notes: string[] = [];
  let isWired = false;
  for (const [name, written] of Object.entries(servers)) {
    const entry = readEntry(written, place, machine);
    // A part of the client, not a server.
    if (entry === null) continue;
    const kind = ownEntry(entry, ports);
    // The user already has an entry for PML.
    if (kind === 'gateway' && name !== own) isWired = true;
    if (kind !== null) continue;
    const imported = importEntry(name, entry, place, machine);
    if ('stays' in imported) notes.push(`"${name}" stays with ${place.label}: ${imported.stays}.`);
    else {
      const moved = isOff(name) ? { ...imported.entry, disabled: true } : imported.entry;
      moves.push({ name, entry: moved, place, approved: approvedTools(written) });
    }
  }
  const wants = !isWired && (place.project === null || moves.length > 0 || own in servers);
  const remove = moves.map(({ name }) => name);
  const set = wants ? { [own]: ENTRY_FORMS[place.dialect].write(launch, own) } : {};
  return { text: format.change(place.file, text, place.path, { remove, set }), moves, notes };
}

/** The names of the servers in a list that are not PML. */
export function foreignServers(text: string, place: ClientPlace, machine: Machine): string[] {
  const servers = SERVERS_FORMATS[place.format].read(place.file, text, place.path) ?? {};
  return Object.entries(servers).flatMap(([name, written]) => {
    const entry = readEntry(written, place, machine);
    return entry === null || ownEntry(entry, []) !== null ? [] : [name];
  });
}

/** The client's entry in the common form, with its folders filled in. */
function readEntry(written: Entry, place: ClientPlace, { home, platform }: Machine): Entry | null {
  // Some clients keep other settings beside their servers.
  if (typeof written !== 'object' || written === null) return null;
  const { variables, project, dialect } = place;
  const separator = platform === 'win32' ? '\\' : '/';
  const known: Record<string, string> = { userHome: home, pathSeparator: separator, '/': separator };
  if (project !== null) {
    known.workspaceFolder = project;
    known.workspaceFolderBasename = project.split(/[\\/]/).at(-1) ?? '';
  }
  return ENTRY_FORMS[dialect].read(fillIn(written, variables, known));
}

/** Tools that the client calls without asking: Cline, Roo, Gemini CLI. */
function approvedTools({ autoApprove, alwaysAllow, trust }: Entry): readonly string[] {
  if (trust === true) return ['*'];
  const list = autoApprove ?? alwaysAllow;
  return Array.isArray(list) ? list.map(String) : [];
}

/**
 * Whether a client's entry is PML itself, which must never be its own upstream: `gateway` reaches all of PML,
 * `endpoint` one server through it. `ports` are the ports PML listens on.
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

/** Merges the servers of several clients: equal ones once, different ones under different names. */
export function mergeServers(present: Entries): ServerMerge {
  const added: Record<string, Entry> = {};
  return {
    added,
    add({ name: written, entry, place: { client } }) {
      const names = candidates(serverName(written), client ?? 'imported');
      for (const name of names) {
        const other = added[name] ?? present[name];
        if (other && !reachesTheSame(other, entry)) continue;
        // Disabled in one client but enabled in another: it is enabled.
        if (!other || (added[name]?.disabled && !entry.disabled)) added[name] = entry;
        return { name, isNew: !other };
      }
      throw new Error('The generator of candidates ended.');
    },
  };
}

/** github, github-cursor, github-cursor-2, … */
function* candidates(base: string, client: string): Generator<string> {
  yield base;
  yield `${base}-${client}`;
  for (let count = 2; ; count++) yield `${base}-${client}-${count}`;
}

/** Limits and `disabled` are not part of a server's identity. */
function reachesTheSame(a: Entry, b: Entry): boolean {
  return canonicalJson(reachOf(a)) === canonicalJson(reachOf(b));
}

function reachOf({ command, args, env, cwd, url, headers, auth, type }: Entry): unknown {
  return [command, args ?? [], env ?? {}, cwd, url, headers ?? {}, auth, type === 'sse'];
}

/** Features that only the client itself can provide for a server. */
const CLIENT_ONLY: Readonly<Record<string, string>> = {
  envFile: 'reads variables from a file ("envFile")',
  headersHelper: 'makes its headers with a program ("headersHelper")',
};

type Imported = { readonly entry: Entry } | { readonly stays: string };

/** A client's server as an entry of pml.json, or the reason it must stay with the client. */
function importEntry(name: string, entry: Entry, place: ClientPlace, machine: Machine): Imported {
  for (const [key, why] of Object.entries(CLIENT_ONLY)) if (entry[key] !== undefined) return { stays: why };
  if (place.variables === 'opencode' && readsFile(entry)) return { stays: 'reads a file ("{file:…}")' };
  const { disabled, tools, ...reach } = fromClientEntry(entry) as Entry;
  const imported = {
    ...reach,
    ...startFolder(reach, place, machine),
    ...(disabled === true && { disabled }),
    ...(Object.keys(tools ?? {}).length > 0 && { tools }),
  };
  const problem = problemOf(name, imported, machine);
  return problem === null ? { entry: imported } : { stays: problem };
}

/** A valid PML name for the server. */
function serverName(name: string): string {
  if (isServerName(name)) return name;
  const spelt = name.normalize('NFKD').replace(/[^A-Za-z0-9_.-]+/g, '-');
  const plain = withoutEnding(spelt.replace(/^[^A-Za-z0-9]+/, ''), '-');
  return isServerName(plain) ? plain : `${plain === '' ? 'my' : plain}-server`;
}

/** Clients start a project's servers in the project's folder; PML may run anywhere. */
function startFolder(reach: Entry, { project }: ClientPlace, { home }: Machine): { cwd?: string } {
  if (reach.command === undefined) return {};
  const { cwd } = reach;
  if (project !== null) return { cwd: resolve(project, typeof cwd === 'string' ? cwd : '.') };
  return typeof cwd === 'string' && !cwd.startsWith('~') ? { cwd: resolve(home, cwd) } : {};
}

/** The problem PML's own config reader would report. */
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
