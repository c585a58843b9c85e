import { resolve } from 'node:path';
import { isServerName } from '../../../core/vocabulary/ids.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { fromClientEntry } from '../client-form.ts';
import { readConfig } from '../read-config.ts';
import type { ClientPlace, Machine } from './client-places.ts';
import type { Entry } from './servers-format.ts';

/** One that is not closed goes to the end, so that its end is looked for once. */
const PLACEHOLDER = /\$\{([^}]*)(\}|$)/g;

/** What only the client itself can do for a server. */
const CLIENT_ONLY: Readonly<Record<string, string>> = {
  envFile: 'reads variables from a file ("envFile")',
  headersHelper: 'makes its headers with a program ("headersHelper")',
};

export type Imported = { readonly entry: Entry } | { readonly stays: string };

/** A client's server as it stands in pml.json; or why it can only stay with the client. */
export function importEntry(name: string, entry: Entry, place: ClientPlace, machine: Machine): Imported {
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
export function serverName(name: string): string {
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
