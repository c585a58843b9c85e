import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { recogniseForm } from '../client-form.ts';
import { parseSource, propertiesOf } from '../source-text.ts';
import { readTextFile } from '../text-file.ts';
import type { Dialect } from './client-dialects.ts';
import { CLIENTS, type ClientName, type ClientPlace, clientPlaces, type Machine } from './client-places.ts';

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

/** Not the one server of opencode 1 that is called "servers". */
function isServerMap(node: Node | undefined): boolean {
  return node?.type === 'object' && propertiesOf(node).every(({ value }) => value?.type === 'object');
}

const KNOWN_FORMS =
  '"mcpServers" (Claude, Cursor, Gemini CLI, Windsurf, Cline, Copilot CLI), "servers" (VS Code), "context_servers" (Zed), ' +
  '"mcp" (opencode), [mcp_servers] in TOML (Codex), "extensions" in YAML (goose)';

/** A file outside the clients' folders: its form follows from its keys or, if it is empty, from its name. */
async function unknownFile(
  file: string,
  written: string,
  known: readonly ClientPlace[],
): Promise<ClientPlace> {
  const present = await readTextFile(file);
  if (!present) {
    throw new PmlError('usage', `"${written}" is neither a client nor a file`, {
      hint: `Known clients: ${CLIENTS.join(', ')}. Give a file by its path.`,
    });
  }
  const form = formOf(file, present.text, known);
  if (form === null) {
    throw new PmlError('usage', `${file} has no list of servers that PML knows`, {
      hint: `PML knows ${KNOWN_FORMS}. Add the one your client reads, even if it is empty, or connect the client by hand: see docs/connect.md.`,
    });
  }
  return {
    client: null,
    label: basename(file),
    file,
    format: 'json',
    dialect: 'common',
    path: ['mcpServers'],
    variables: 'editor',
    ...form,
    project: projectOf(file),
  };
}

type Form = Partial<Pick<ClientPlace, 'format' | 'dialect' | 'path' | 'variables'>>;

function formOf(file: string, text: string, known: readonly ClientPlace[]): Form | null {
  const of = (dialect: Dialect): Form => {
    const { format, path, variables } = known.find((each) => each.dialect === dialect)!;
    return { format, path, variables, dialect };
  };
  if (file.endsWith('.toml')) return of('codex');
  if (/\.ya?ml$/.test(file)) return /^extensions:/m.test(text) ? of('goose') : null;
  if (text.trim() === '') return ofName(file, known, of);
  const { root } = parseSource(file, text);
  const form = recogniseForm(file, root);
  if (form.ours) {
    throw new PmlError('usage', `${file} is PML's own configuration, not a client's`, {
      hint: 'Use it with --config.',
    });
  }
  const isOpencode = basename(file).startsWith('opencode.json');
  if (form.servers !== null && !(isOpencode && form.servers[0] === 'mcp')) {
    const path = form.servers.map(String);
    if (path[0] === 'mcpServers') return basename(file) === '.mcp.json' ? of('claude-code') : { path };
    return { ...of('vscode'), path };
  }
  if (findNodeAtLocation(root, ['context_servers'])) return of('zed');
  const servers = findNodeAtLocation(root, ['mcp']);
  const isNested = isServerMap(findNodeAtLocation(root, ['mcp', 'servers']));
  if (isOpencode && isNested) return { ...of('opencode'), path: ['mcp', 'servers'] };
  if (servers && (isOpencode || isServerMap(servers))) return of('opencode');
  return propertiesOf(root).length === 0 || isOpencode ? ofName(file, known, of) : null;
}

function ofName(file: string, known: readonly ClientPlace[], of: (dialect: Dialect) => Form): Form | null {
  const named = known.filter((each) => basename(each.file) === basename(file));
  const [dialect, ...others] = new Set(named.map((each) => each.dialect));
  if (dialect === undefined || others.length > 0) return null;
  return dialect === 'common' ? {} : of(dialect);
}

function projectOf(file: string): string | null {
  const folder = dirname(file);
  if (basename(file) === '.mcp.json') return folder;
  return ['.vscode', '.cursor', '.codex', '.gemini', '.zed', '.opencode'].includes(basename(folder))
    ? dirname(folder)
    : null;
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
