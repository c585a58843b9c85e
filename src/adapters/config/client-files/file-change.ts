import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createTwoFilesPatch } from 'diff';
import { applyEdits, type Edit, type Node, parseTree, visit } from 'jsonc-parser';
import { isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { canonicalJson } from '../../../core/policy/call-hash.ts';
import { isSecretName } from '../../../core/tracing/known-secrets.ts';
import { createRedactor, type Redactor } from '../../../core/tracing/redact.ts';
import { isSecretFlag } from '../../../core/tracing/secret-shapes.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { decodeText, readBytes, readTextFile, type TextFile, writeFileWhole } from '../text-file.ts';
import type { ClientName } from './client-places.ts';
import type { Entries, FileFormat } from './servers-format.ts';
import { splitTables, type TomlTable } from './toml-tables.ts';

const DEFAULTS = {
  context: 3,
  /** Some clients store whole conversations on one line of the file. */
  longestLine: 240,
};

/** A planned change of one file. */
export interface FileChange {
  readonly file: string;
  readonly label: string;
  readonly format: FileFormat;
  /** The file as it was read; null if it does not exist. */
  readonly present: TextFile | null;
  /** Null deletes the file. */
  readonly after: Buffer | null;
}

/** A change as shown to a person before it is made. */
export interface ShownChange {
  readonly file: string;
  readonly label: string;
  /** Unified diff with possible secrets hidden. */
  readonly diff: string;
}

export function isChange({ present, after }: FileChange): boolean {
  return present === null || after === null ? present !== after : !present.bytes.equals(after);
}

export function showChanges(changes: readonly FileChange[]): ShownChange[] {
  const texts = changes.flatMap(({ present, after, format }) => [
    { text: present?.text ?? '', format },
    { text: after ? decodeText(after).text : '', format },
  ]);
  const masked = maskSecrets(texts);
  return changes.map(({ file, label, present, after }, index) => {
    const before = present && masked[2 * index]!;
    return { file, label, diff: showDiff(file, before, after && masked[2 * index + 1]!) };
  });
}

/** A client may have written its file while the person looked at the diff. */
export async function refuseIfStale(changes: readonly FileChange[]): Promise<void> {
  for (const { file, present } of changes) {
    const now = await readBytes(file);
    const isSame = now === null || present === null ? now === present : now.equals(present.bytes);
    if (isSame) continue;
    throw new PmlError('file_changed', `${file} was just changed by another program`, {
      hint: 'Nothing was written. Run the command again.',
    });
  }
}

/** The difference as `diff -u` shows it; null means that the file does not exist. */
function showDiff(file: string, before: string | null, after: string | null): string {
  const patch = createTwoFilesPatch(
    before === null ? '/dev/null' : file,
    after === null ? '/dev/null' : file,
    before ?? '',
    after ?? '',
    undefined,
    undefined,
    { context: DEFAULTS.context },
  );
  return patch.slice(patch.indexOf('--- ')).split('\n').map(cut).join('\n');
}

function cut(line: string): string {
  const text = withoutEnding(line, '\r\t');
  return text.length <= DEFAULTS.longestLine ? text : `${text.slice(0, DEFAULTS.longestLine)} …`;
}

const HIDDEN = '(hidden)';

/** Files are shown in full. */
const UNCUT = { maxString: 2 ** 28, maxText: 2 ** 29, maxNodes: 2 ** 28 };

/** Every value below these keys may be a secret, whatever its name. */
const SECRET_GROUPS = new Set(['env', 'envs', 'environment', 'headers', 'http_headers', 'auth', 'oauth']);

/** Exceptions below those keys: settings, not credentials. */
const HARMLESS = new Set(['kind', 'scope', 'scopes']);

/** Only a reference to a variable, not the value itself. */
const REFERENCE = /^\$\{[^}]*\}$/;

/** Values distinctive enough to be hidden elsewhere too; a plain word would match all over the file. */
const TELLING = /^(?=.*\d)(?=.*[A-Za-z]).{8,}$/s;

/** An unclosed string extends to the end, so that the search stays linear. */
const TOML_TEXT = /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\[\s\S]?|[^"\\])*(?:"|$)|'[^']*(?:'|$)/g;

const TOML_QUOTES = /^("""|'''|"|')|("""|'''|"|')$/g;

/** The key of a line `key = value`, including the sign. */
const TOML_KEY =
  /^[ \t]*(?:[\w-]+|"(?:\\.|[^"\\])*"|'[^']*')(?:[ \t]*\.[ \t]*(?:[\w-]+|"(?:\\.|[^"\\])*"|'[^']*'))*[ \t]*=/;

interface Shown {
  readonly text: string;
  readonly format: FileFormat;
}

const MASKS = { json: maskJson, toml: maskToml, yaml: maskYaml };

/**
 * Copies of configuration files with secrets hidden. A value hidden in one place is hidden everywhere, in all
 * files.
 */
function maskSecrets(files: readonly Shown[]): string[] {
  const known = new Set<string>();
  const mask = (redact: Redactor) => files.map(({ text, format }) => MASKS[format](text, redact, known));
  // The first pass collects the values that the second one hides everywhere.
  mask(createRedactor([], UNCUT));
  return mask(createRedactor(known, UNCUT));
}

function maskJson(text: string, redact: Redactor, known: Set<string>): string {
  const edits: Edit[] = [];
  const leaf = ({ offset, length, value }: Node, isSecret: boolean) => {
    const shown = isSecret ? hide(String(value), known) : redact(String(value));
    if (shown !== String(value)) edits.push({ offset, length, content: JSON.stringify(shown) });
  };
  const descend = (node: Node, isSecret: boolean): void => {
    const children = node.children ?? [];
    if (node.type === 'property') {
      const key = String(children[0]?.value);
      if (children[1]) descend(children[1], (isSecret && !HARMLESS.has(key)) || isSecretKey(key));
    } else if (node.type === 'array') {
      children.forEach((child, index) => {
        const flag: unknown = children[index - 1]?.value;
        descend(child, isSecret || (typeof flag === 'string' && isSecretFlag(flag)));
      });
    } else if (node.type === 'object') for (const child of children) descend(child, isSecret);
    else if (node.type === 'string' || node.type === 'number') leaf(node, isSecret);
  };
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root) descend(root, false);
  visit(text, {
    onComment: (offset, length) =>
      edits.push({ offset, length, content: redact(text.slice(offset, offset + length)) }),
  });
  return applyEdits(text, edits);
}

/** Hides every string in a table of secrets or under a key with a telling name. */
function maskToml(text: string, redact: Redactor, known: Set<string>): string {
  const maskPair = (name: readonly string[], { key, value }: TomlPair) => {
    if (key === '') return value;
    const words = key.slice(0, -1).split('.');
    const isSecret = [...name, ...words.map((word) => word.trim().replace(TOML_QUOTES, ''))].some(
      isSecretKey,
    );
    return key + maskTomlValue(value, isSecret, known);
  };
  const maskTable = ({ name, lead, text: table }: TomlTable) =>
    lead +
    pairsOf(table)
      .map((pair) => maskPair(name, pair))
      .join('\n');
  return redact(splitTables(text).map(maskTable).join(''));
}

function maskYaml(text: string, redact: Redactor, known: Set<string>): string {
  const edits: Edit[] = [];
  const descend = (node: unknown, isSecret: boolean): void => {
    if (isMap(node)) {
      for (const { key, value } of node.items)
        descend(value, (isSecret && !HARMLESS.has(String(key))) || isSecretKey(String(key)));
    } else if (isSeq(node)) {
      node.items.forEach((item, index) => {
        const before = node.items[index - 1];
        descend(item, isSecret || (isScalar(before) && isSecretFlag(String(before.value))));
      });
    } else if (isSecret && isScalar(node) && node.range) {
      const [offset, end] = node.range;
      const shown = hide(String(node.value), known);
      edits.push({ offset, length: end - offset, content: JSON.stringify(shown) });
    }
  };
  descend(parseDocument(text).contents, false);
  return redact(applyEdits(text, edits));
}

interface TomlPair {
  /** Including the `=`; empty for text before the first key. */
  readonly key: string;
  /** Including all continuation lines. */
  value: string;
}

function pairsOf(table: string): TomlPair[] {
  const pairs: TomlPair[] = [];
  for (const line of table.split('\n')) {
    const key = TOML_KEY.exec(line)?.[0] ?? '';
    const last = pairs.at(-1);
    if (key !== '' || !last) pairs.push({ key, value: line.slice(key.length) });
    else last.value += `\n${line}`;
  }
  return pairs;
}

function maskTomlValue(value: string, isSecret: boolean, known: Set<string>): string {
  let flag = '';
  return value.replace(TOML_TEXT, (quoted) => {
    const text = quoted.replace(TOML_QUOTES, '');
    const shown = isSecret || isSecretFlag(flag) ? hide(text, known) : text;
    flag = text;
    return shown === text ? quoted : JSON.stringify(shown);
  });
}

function isSecretKey(key: string): boolean {
  return SECRET_GROUPS.has(key) || isSecretName(key);
}

function hide(value: string, known: Set<string>): string {
  if (value === '' || REFERENCE.test(value)) return value;
  if (TELLING.test(value)) known.add(value);
  return HIDDEN;
}

/** A file changed by an init, and what an undo needs. Contains no text of the file. */
export interface JournalFile {
  readonly file: string;
  readonly label: string;
  readonly client: ClientName | null;
  readonly format: FileFormat;
  /** Path of the copy made before the change; null if the file did not exist. */
  readonly backup: string | null;
  /** Hashes of the file before and after; null if the file did not exist. */
  readonly before: string | null;
  readonly after: string;
  /** The changed lists, with a hash of each server left in them. */
  readonly places: readonly { readonly path: readonly string[]; readonly servers: ServerHashes }[];
}

type ServerHashes = Readonly<Record<string, string>>;

export interface JournalRun {
  readonly at: string;
  readonly files: readonly JournalFile[];
}

/** Oldest first. */
export async function readJournal(file: string): Promise<readonly JournalRun[]> {
  const present = await readTextFile(file);
  return present ? (JSON.parse(present.text) as { runs: JournalRun[] }).runs : [];
}

export async function writeJournal(file: string, runs: readonly JournalRun[]): Promise<void> {
  if (runs.length === 0) return await rm(file, { force: true });
  await writeFileWhole(file, Buffer.from(`${JSON.stringify({ runs }, null, 2)}\n`));
}

export function hashOf(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Independent of whitespace and key order, because clients rewrite their files. */
export function hashServers(servers: Entries | null): ServerHashes {
  return Object.fromEntries(
    Object.entries(servers ?? {}).map(([name, entry]) => [name, hashOf(canonicalJson(entry) ?? '')]),
  );
}
