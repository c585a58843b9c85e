import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findNodeAtLocation } from 'jsonc-parser';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { parseSource } from '../source-text.ts';
import { readTextFile } from '../text-file.ts';
import { CLIENTS, type ClientName, type ClientPlace, clientPlaces, type Machine } from './client-places.ts';
import { isServerMap, unknownFile } from './unknown-file.ts';

export interface Selection {
  readonly places: readonly ClientPlace[];
  /** The project whose lists these are; null for lists that apply everywhere. */
  readonly project: string | null;
  /** Lists of the project that were not asked for and stay. */
  readonly left: readonly ClientPlace[];
}

/** The lists named by `from`: those of a client or of a file; by default all. A project's only on request. */
export async function selectPlaces(
  machine: Machine,
  { from, project = false }: { from?: string | undefined; project?: boolean | undefined },
): Promise<Selection> {
  const known = await Promise.all(clientPlaces(machine).map(nativeForm));
  if (from !== undefined && !isClient(from)) return await ofFile(machine, from, project, known);
  const all = known.filter(({ client }) => from === undefined || client === from);
  const wanted = all.filter((each) => (each.project !== null) === project);
  const found = wanted.filter(({ file }) => existsSync(file));
  const left = project ? [] : all.filter((each) => each.project !== null && existsSync(each.file));
  // A client that is installed but has no file yet gets one, if it is named.
  const places = found.length > 0 || from === undefined ? found : wanted.filter(isInstalled);
  if (places.length === 0) throw nothingFound(from ?? 'any MCP client', wanted, left);
  return { places, project: project ? machine.cwd : null, left };
}

async function ofFile(
  machine: Machine,
  from: string,
  inProject: boolean,
  known: readonly ClientPlace[],
): Promise<Selection> {
  const file = resolve(machine.cwd, from);
  const here = known.filter((each) => each.file === file && existsSync(file));
  // One file of Claude Code has lists of both kinds; a project's own file says by its place what it is.
  const wanted = here.filter((each) => (each.project !== null) === inProject);
  const places = wanted.length > 0 ? wanted : here;
  if (places.length === 0) places.push(await unknownFile(file, from, known));
  return { places, project: places[0]!.project, left: [] };
}

function isInstalled({ file, project, label }: ClientPlace): boolean {
  return project === null && label !== 'Claude Code' && existsSync(dirname(file));
}

/** opencode 2 has its servers one level deeper than opencode 1, whose form it still reads. */
async function nativeForm(place: ClientPlace): Promise<ClientPlace> {
  if (place.dialect !== 'opencode') return place;
  const present = await readTextFile(place.file).catch(() => null);
  const deeper =
    present !== null && /"servers"/.test(present.text) && hasDeepServers(place.file, present.text);
  return deeper ? { ...place, path: ['mcp', 'servers'] } : place;
}

function hasDeepServers(file: string, text: string): boolean {
  try {
    return isServerMap(findNodeAtLocation(parseSource(file, text).root, ['mcp', 'servers']));
  } catch {
    // Reported when the servers are read.
    return false;
  }
}

function isClient(text: string): text is ClientName {
  return (CLIENTS as readonly string[]).includes(text);
}

function nothingFound(what: string, places: readonly ClientPlace[], left: readonly ClientPlace[]): PmlError {
  const looked = [...new Set(places.map(({ file }) => file))];
  const here = left.length === 0 ? '' : ` For those of this project, use --project (${left[0]!.file}).`;
  return new PmlError('not_found', `No configuration of ${what} was found`, {
    hint: `PML looked for ${looked.join(', ')}.${here} To use another file, give --from FILE.`,
  });
}
