import { findNodeAtLocation, getNodeValue, type Node } from 'jsonc-parser';
import { parse, stringify } from 'smol-toml';
import {
  isMap,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  stringify as toYaml,
  type YAMLMap,
} from 'yaml';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { isJsonObject } from '../../../core/vocabulary/read-wire.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { removeProperty, setProperty } from '../edit-config.ts';
import { parseSource } from '../source-text.ts';
import type { Entry } from './client-dialects.ts';
import { splitTables, type TomlTable } from './toml-tables.ts';

export type FileFormat = 'json' | 'toml' | 'yaml';

/** `[mcp_servers.NAME]` and the tables below it, as Codex and its `mcp add` write them. */
const tomlServers: ServersFormat = {
  read: readTomlServers,

  change(file, text, [key], { remove, set }) {
    const present = readTomlServers(file, text, [key!]) ?? {};
    const added = newEntries(present, set);
    const gone = new Set([...remove, ...added.map(([name]) => name)]);
    const kept = Object.entries(present).filter(([name]) => !gone.has(name));
    const changed = replaceTables(text, isServer(key!, gone), printed(key!, added, text));
    return verified(file, readFile, text, changed, key!, Object.fromEntries([...kept, ...added]));
  },

  graft(file, text, [key], original) {
    const isAny = ({ name }: TomlTable) => name[0] === key;
    const tables = splitTables(original).filter(isAny);
    const changed = replaceTables(text, isAny, tables.map((table) => table.text).join(''));
    return verified(file, readFile, text, changed, key!, readTomlServers(file, original, [key!]));
  },
};

/** A block mapping with one entry per server, as goose writes it. */
const yamlServers: ServersFormat = {
  read: readYamlServers,

  change(file, text, [key], { remove, set }) {
    const present = readYamlServers(file, text, [key!]) ?? {};
    const added = newEntries(present, set);
    const gone = new Set([...remove, ...added.map(([name]) => name)]);
    if (gone.size === 0) return text;
    const kept = Object.entries(present).filter(([name]) => !gone.has(name));
    const changed = replacePairs(file, text, key!, gone, Object.fromEntries(added));
    return verified(file, readYaml, text, changed, key!, Object.fromEntries([...kept, ...added]));
  },

  graft(file, text, [key], original) {
    const source = linesOf(original, pairOf(yamlRoot(file, original), key!));
    const target = linesOf(text, pairOf(yamlRoot(file, text), key!));
    const servers = source === null ? '' : original.slice(...source);
    const changed =
      target === null
        ? endedLine(text) + servers
        : text.slice(0, target[0]) + servers + text.slice(target[1]);
    return verified(file, readYaml, text, changed, key!, readYamlServers(file, original, [key!]));
  },
};

export type Entries = Readonly<Record<string, Entry>>;

interface ServersChange {
  readonly remove: readonly string[];
  /** Servers to add, or keys to overwrite in an existing entry of the same name. */
  readonly set: Entries;
}

/** A file format with servers. Changes leave the rest of the text as it is. */
export interface ServersFormat {
  /** Null if the file has no list of servers. Throws `config_invalid` if the text cannot be parsed. */
  read(file: string, text: string, path: readonly string[]): Entries | null;
  change(file: string, text: string, path: readonly string[], change: ServersChange): string;
  /** The text with the servers of `original`, formatted as they are there. */
  graft(file: string, text: string, path: readonly string[], original: string): string;
}

/** The format of most clients: an object in a JSON file, perhaps with comments. */
export const jsonServers: ServersFormat = {
  read: readServers,

  change(file, text, path, { remove, set }) {
    let changed = orEmpty(text);
    for (const name of remove) changed = removeProperty(changed, [...path, name]);
    for (const [name, entry] of Object.entries(set)) {
      const present = readServers(file, changed, path)?.[name];
      if (!isJsonObject(present)) {
        changed = setProperty(changed, [...path, name], entry);
        continue;
      }
      // Key by key, so that the entry's other keys keep their place.
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

export const SERVERS_FORMATS: Readonly<Record<FileFormat, ServersFormat>> = {
  json: jsonServers,
  toml: tomlServers,
  yaml: yamlServers,
};

function readServers(file: string, text: string, path: readonly string[]): Entries | null {
  const node = nodeAt(file, text, path);
  const value: unknown = node && getNodeValue(node);
  return isJsonObject(value) ? (value as Entries) : null;
}

function nodeAt(file: string, text: string, path: readonly string[]): Node | undefined {
  return findNodeAtLocation(parseSource(file, orEmpty(text)).root, [...path]);
}

/** Editors create an empty file before they write to it. */
function orEmpty(text: string): string {
  return text.trim() === '' ? '{}\n' : text;
}

function readTomlServers(file: string, text: string, [key]: readonly string[]): Entries | null {
  return (readFile(file, text)[key!] as Entries | undefined) ?? null;
}

function readFile(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    // Only the position: the parser's message shows the line, which may contain a secret.
    const at = cause as { line?: number; column?: number };
    throw new PmlError('config_invalid', `${file}:${at.line ?? 1}:${at.column ?? 1} is not TOML`, {
      hint: 'Fix the file, then try again.',
      cause,
    });
  }
}

/** What is new or different, with the keys an entry already has. */
function newEntries(present: Entries, set: Entries): [string, Entry][] {
  return Object.entries(set)
    .map(([name, entry]): [string, Entry] => [name, { ...present[name], ...entry }])
    .filter(([name, entry]) => canonicalJson(entry) !== canonicalJson(present[name]));
}

function isServer(key: string, names: ReadonlySet<string>): (table: TomlTable) => boolean {
  return ({ name }) => name[0] === key && name[1] !== undefined && names.has(name[1]);
}

/**
 * Puts the new text where the first replaced table was, or at the end. Comments above the replaced tables
 * stay.
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

function readYamlServers(file: string, text: string, [key]: readonly string[]): Entries | null {
  const servers = readYaml(file, text)[key!];
  return isJsonObject(servers) ? (servers as Entries) : null;
}

function readYaml(file: string, text: string): Record<string, unknown> {
  return (yamlRoot(file, text)?.toJSON() as Record<string, unknown> | undefined) ?? {};
}

/** Null for an empty file. */
function yamlRoot(file: string, text: string): YAMLMap | null {
  const lineCounter = new LineCounter();
  const { errors, contents } = parseDocument(text, { lineCounter });
  const [error] = errors;
  if (!error && (contents === null || isMap(contents))) return contents;
  // Only the position: the parser's message shows the line, which may contain a secret.
  const { line, col } = lineCounter.linePos(error?.pos[0] ?? 0);
  throw new PmlError('config_invalid', `${file}:${line}:${col} is not a YAML mapping`, {
    hint: 'Fix the file, then try again.',
    cause: error,
  });
}

function pairOf(map: YAMLMap | null, key: string): Pair | undefined {
  return map?.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);
}

/** First and last offset of the lines of a key with its value; comments around them are not included. */
function linesOf(text: string, pair: Pair | undefined): [start: number, end: number] | null {
  const [keyStart, keyEnd] = (isScalar(pair?.key) && pair.key.range) || [];
  if (keyStart === undefined || keyEnd === undefined) return null;
  const value = pair!.value as { range?: readonly number[] | null } | null;
  const start = text.lastIndexOf('\n', keyStart - 1) + 1;
  const written = text.slice(0, Math.max(keyEnd, value?.range?.[1] ?? 0)).trimEnd();
  const lineEnd = text.indexOf('\n', written.length);
  return [start, lineEnd === -1 ? text.length : lineEnd + 1];
}

/** Cuts the entries in `gone`, and writes the new ones where the first was or behind the last one. */
function replacePairs(
  file: string,
  text: string,
  key: string,
  gone: ReadonlySet<string>,
  added: Entries,
): string {
  const eol = eolOf(text);
  const outer = pairOf(yamlRoot(file, text), key);
  const map = outer?.value;
  const print = (indent: string, value: unknown) => {
    const lines = toYaml(value, { lineWidth: 0 }).trimEnd().split('\n');
    return lines.map((line) => `${indent}${line}${eol}`).join('');
  };
  const items = isMap(map) && !map.flow ? map.items : [];
  const lines = items.map((pair) => ({ name: String(pair.key), lines: linesOf(text, pair)! }));
  const cut = lines.filter(({ name }) => gone.has(name));
  // The blank lines between two entries go with the first.
  for (const { lines: range } of cut.filter((each) => each !== lines.at(-1)))
    range[1] += /^(?:[ \t]*\r?\n)*/.exec(text.slice(range[1]))![0].length;
  const isNew = Object.keys(added).length > 0;
  if (items.length === 0 || (cut.length === lines.length && !isNew)) {
    const [start, end] = linesOf(text, outer) ?? [text.length, text.length];
    return endedLine(text.slice(0, start)) + print('', { [key]: added }) + text.slice(end);
  }
  const [first] = cut[0]?.lines ?? [lines.at(-1)!.lines[1]];
  const indent = /^[ \t]*/.exec(text.slice(lines[0]!.lines[0]))![0];
  let changed = text;
  for (const {
    lines: [start, end],
  } of cut.toReversed())
    changed = changed.slice(0, start) + changed.slice(end);
  if (!isNew) return changed;
  return endedLine(changed.slice(0, first)) + print(indent, added) + changed.slice(first);
}

/** The text, with a line break at the end. */
function endedLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : text + eolOf(text);
}

/**
 * Servers may also be written in ways that cutting lines would miss: dotted keys and inline tables in TOML, anchors
 * and inline mappings in YAML.
 */
function verified(
  file: string,
  parseFile: (file: string, text: string) => Record<string, unknown>,
  before: string,
  after: string,
  key: string,
  servers: Entries | null,
): string {
  const { [key]: _, ...rest } = parseFile(file, before);
  const wanted = servers === null ? rest : { ...rest, [key]: servers };
  const isRight = () => {
    const { [key]: got = {}, ...others } = parseFile(file, after);
    const { [key]: expected = {}, ...otherExpected } = wanted;
    return canonicalJson([got ?? {}, others]) === canonicalJson([expected, otherExpected]);
  };
  try {
    if (isRight()) return after;
  } catch {
    // Continues to the error below.
  }
  const [form, sample] =
    parseFile === readYaml ? ['entry', `${key}: with NAME: below it`] : ['table', `[${key}.NAME]`];
  throw new PmlError(
    'config_invalid',
    `The servers in ${file} are written in a way PML cannot change safely`,
    {
      hint: `Write each server as its own ${form}, ${sample}, and try again. Nothing was changed.`,
    },
  );
}
