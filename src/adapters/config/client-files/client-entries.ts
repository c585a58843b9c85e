import { canonicalJson } from '../../../core/policy/call-hash.ts';
import type { ClientPlace, Machine } from './client-places.ts';
import { importEntry, serverName } from './import-entry.ts';
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
