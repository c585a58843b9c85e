import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser';
import { parse, stringify } from 'smol-toml';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { removeProperty, setProperty } from '../json-edits.ts';
import { parseSource } from '../source-text.ts';
import { splitTables, type TomlTable } from './toml-tables.ts';

/** `[mcp_servers.NAME]` and the tables below it, as Codex and its `mcp add` write them. */
const tomlServers: ServersFormat = {
  read: readTomlServers,

  change(file, text, [key], { remove, set }) {
    const present = readTomlServers(file, text, [key!]) ?? {};
    const added = Object.entries(set)
      .map(([name, entry]) => [name, { ...present[name], ...entry }] as const)
      .filter(([name, entry]) => canonicalJson(entry) !== canonicalJson(present[name]));
    const gone = new Set([...remove, ...added.map(([name]) => name)]);
    const kept = Object.entries(present).filter(([name]) => !gone.has(name));
    const changed = replaceTables(text, isServer(key!, gone), printed(key!, added, text));
    return verified(file, text, changed, key!, Object.fromEntries([...kept, ...added]));
  },

  graft(file, text, [key], original) {
    const isAny = ({ name }: TomlTable) => name[0] === key;
    const tables = splitTables(original).filter(isAny);
    const changed = replaceTables(text, isAny, tables.map((table) => table.text).join(''));
    return verified(file, text, changed, key!, readTomlServers(file, original, [key!]));
  },
};

export type Entry = Readonly<Record<string, unknown>>;

export type Entries = Readonly<Record<string, Entry>>;

interface ServersChange {
  readonly remove: readonly string[];
  /** Added; or, where an entry of the name is there, put over its keys. */
  readonly set: Entries;
}

/** A kind of file that holds servers. Changes leave the rest of the text as it is. */
export interface ServersFormat {
  /** Null without a list of servers. Throws `config_invalid` when the text cannot be read. */
  read(file: string, text: string, path: readonly string[]): Entries | null;
  change(file: string, text: string, path: readonly string[], change: ServersChange): string;
  /** The text with the servers of `original`, written as they are written there. */
  graft(file: string, text: string, path: readonly string[], original: string): string;
}

/** Where most clients keep their servers: an object of a JSON file, comments and all. */
export const jsonServers: ServersFormat = {
  read: readServers,

  change(file, text, path, { remove, set }) {
    let changed = orEmpty(text);
    for (const name of remove) changed = removeProperty(changed, [...path, name]);
    for (const [name, entry] of Object.entries(set)) {
      const present = readServers(file, changed, path)?.[name];
      if (!isObject(present)) {
        changed = setProperty(changed, [...path, name], entry);
        continue;
      }
      // Key by key, so that what else stands in the entry keeps its place.
      for (const [key, value] of Object.entries(entry)) {
        if (canonicalJson(present[key]) !== canonicalJson(value))
          changed = setProperty(changed, [...path, name, key], value);
      }
    }
    return changed;
  },

  graft(file, text, path, original) {
    const source = nodeAt(file, original, path);
    const target = nodeAt(file, text, path);
    if (!source) return removeProperty(text, [...path]);
    if (!target) return setProperty(text, [...path], getNodeValue(source));
    const servers = original.slice(source.offset, source.offset + source.length);
    return text.slice(0, target.offset) + servers + text.slice(target.offset + target.length);
  },
};

/** How the servers in a kind of file are read and changed. */
export const SERVERS_FORMATS: Readonly<Record<'json' | 'toml', ServersFormat>> = {
  json: jsonServers,
  toml: tomlServers,
};

function readServers(file: string, text: string, path: readonly string[]): Entries | null {
  const node = nodeAt(file, text, path);
  const value: unknown = node && getNodeValue(node);
  return isObject(value) ? (value as Entries) : null;
}

function nodeAt(file: string, text: string, path: readonly string[]): Node | undefined {
  return findNodeAtLocation(parseSource(file, orEmpty(text)).root, [...path]);
}

/** Editors make the file before they write into it. */
function orEmpty(text: string): string {
  return text.trim() === '' ? '{}\n' : text;
}

function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readTomlServers(file: string, text: string, [key]: readonly string[]): Entries | null {
  return (readFile(file, text)[key!] as Entries | undefined) ?? null;
}

function readFile(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    // Only the place: the parser's message shows the line, which may hold a key.
    const at = cause as { line?: number; column?: number };
    throw new PmlError('config_invalid', `${file}:${at.line ?? 1}:${at.column ?? 1} is not TOML`, {
      hint: 'Fix the file, then try again.',
      cause,
    });
  }
}

function isServer(key: string, names: ReadonlySet<string>): (table: TomlTable) => boolean {
  return ({ name }) => name[0] === key && name[1] !== undefined && names.has(name[1]);
}

/**
 * The new text stands where the first replaced table stood, else at the end. Comments above the
 * replaced tables stay.
 */
function replaceTables(text: string, isReplaced: (table: TomlTable) => boolean, by: string): string {
  const tables = splitTables(text);
  const first = tables.find(isReplaced);
  if (first) {
    const lines = first.text.replace(/\r?\n$/, '');
    const gap = lines.slice(withoutEnding(lines, '\r\n').length);
    return tables
      .map((table) => {
        if (!isReplaced(table)) return table.lead + table.text;
        return table.lead + (table === first && by !== '' ? by + gap : '');
      })
      .join('');
  }
  if (by === '') return text;
  const eol = eolOf(text);
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return text + gap + by;
}

function printed(key: string, entries: readonly (readonly [string, Entry])[], text: string): string {
  if (entries.length === 0) return '';
  return `${stringify({ [key]: Object.fromEntries(entries) }).trimEnd()}\n`.replaceAll('\n', eolOf(text));
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

/** Servers may also be written as dotted keys or inline; those are not cut at headers. */
function verified(file: string, before: string, after: string, key: string, servers: Entries | null): string {
  const { [key]: _, ...rest } = readFile(file, before);
  const wanted = servers === null ? rest : { ...rest, [key]: servers };
  const isRight = () => {
    const { [key]: got = {}, ...others } = parse(after);
    const { [key]: expected = {}, ...otherExpected } = wanted;
    return canonicalJson([got, others]) === canonicalJson([expected, otherExpected]);
  };
  try {
    if (isRight()) return after;
  } catch {
    // Falls through to the message.
  }
  throw new PmlError(
    'config_invalid',
    `The servers in ${file} are written in a way PML cannot change safely`,
    {
      hint: `Write each server as its own table, [${key}.NAME], and try again. Nothing was changed.`,
    },
  );
}
