import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { recogniseForm } from '../client-form.ts';
import { parseSource } from '../source-text.ts';
import { readTextFile } from '../text-file.ts';
import { CLIENTS, type ClientName, type ClientPlace, clientPlaces, type Machine } from './client-places.ts';

/** The places that `--from` names: those of one client, those of one file, or without it all there are. */
export async function selectPlaces(machine: Machine, from: string | undefined): Promise<ClientPlace[]> {
  const all = clientPlaces(machine);
  if (from === undefined) {
    const found = all.filter(({ file }) => existsSync(file));
    if (found.length === 0) throw nothingFound('any MCP client', all);
    return found;
  }
  if (isClient(from)) return placesOf(from, all);
  const file = resolve(machine.cwd, from);
  const known = all.filter((place) => place.file === file);
  return known.length > 0 && existsSync(file) ? known : [await unknownFile(file, from)];
}

/** A client that is installed but has no file yet gets one. */
function placesOf(client: ClientName, all: readonly ClientPlace[]): ClientPlace[] {
  const places = all.filter((place) => place.client === client);
  const found = places.filter(({ file }) => existsSync(file));
  if (found.length > 0) return found;
  const installed = places.filter(
    ({ file, project, label }) => project === null && label !== 'Claude Code' && existsSync(dirname(file)),
  );
  if (installed.length === 0) throw nothingFound(client, places);
  return installed;
}

async function unknownFile(file: string, written: string): Promise<ClientPlace> {
  const present = await readTextFile(file);
  if (!present) {
    throw new PmlError('usage', `"${written}" is neither a client nor a file`, {
      hint: `Clients are ${CLIENTS.join(', ')}; a file is given by its path.`,
    });
  }
  const common = {
    client: null,
    label: basename(file),
    file,
    project: projectOf(file),
    wired: true,
  } as const;
  if (file.endsWith('.toml')) return { ...common, format: 'toml', path: ['mcp_servers'], variables: 'none' };
  const form = recogniseForm(file, parseSource(file, present.text).root);
  if (form.ours) {
    throw new PmlError('usage', `${file} is PML's own configuration, not a client's`, {
      hint: 'Use it with --config.',
    });
  }
  const path = (form.servers ?? ['mcpServers']).map(String);
  return { ...common, format: 'json', path, variables: 'editor' };
}

function projectOf(file: string): string | null {
  const folder = dirname(file);
  if (basename(file) === '.mcp.json') return folder;
  return ['.vscode', '.cursor', '.codex'].includes(basename(folder)) ? dirname(folder) : null;
}

function isClient(text: string): text is ClientName {
  return (CLIENTS as readonly string[]).includes(text);
}

function nothingFound(what: string, places: readonly ClientPlace[]): PmlError {
  const looked = [...new Set(places.map(({ file }) => file))];
  return new PmlError('not_found', `No configuration of ${what} was found`, {
    hint: `PML looked for ${looked.join(', ')}. Name another file with --from FILE.`,
  });
}
