import type { ClientPlace, Machine } from './client-places.ts';
import { importEntry } from './import-entry.ts';
import { OWN_NAME, ownEntry } from './own-entry.ts';
import type { Entry } from './servers.ts';
import { SERVERS_FORMATS } from './servers-format.ts';

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
