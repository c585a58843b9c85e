import { parse, stringify } from 'smol-toml';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import type { Entries, Entry, ServersFormat } from './servers.ts';
import { splitTables, type TomlTable } from './toml-tables.ts';

/** `[mcp_servers.NAME]` and the tables below it, as Codex and its `mcp add` write them. */
export const tomlServers: ServersFormat = {
  read: readServers,

  change(file, text, [key], { remove, set }) {
    const present = readServers(file, text, [key!]) ?? {};
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
    return verified(file, text, changed, key!, readServers(file, original, [key!]));
  },
};

function readServers(file: string, text: string, [key]: readonly string[]): Entries | null {
  return (readFile(file, text)[key!] as Entries | undefined) ?? null;
}

function readFile(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    // Only the place: the parser's message shows the line, which may hold a key.
    const at = cause as { line?: number; column?: number };
    throw new PmlError('config_invalid', `${file}:${at.line ?? 1}:${at.column ?? 1} is not TOML`, {
      hint: 'Mend the file, then try again.',
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
      hint: `Write each as a table of its own, [${key}.NAME], and try again. Nothing was changed.`,
    },
  );
}
