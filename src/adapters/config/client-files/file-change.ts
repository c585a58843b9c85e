import { createTwoFilesPatch } from 'diff';
import { applyEdits, type Edit, type Node, parseTree, visit } from 'jsonc-parser';
import { createRedactor, type Redactor } from '../../../core/tracing/redact.ts';
import { isSecretName } from '../../../core/tracing/secret-names.ts';
import { isSecretFlag } from '../../../core/tracing/secret-shapes.ts';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { withoutEnding } from '../../../core/vocabulary/text.ts';
import { decodeText, readBytes, type TextFile } from '../text-file.ts';
import { splitTables, type TomlTable } from './toml-tables.ts';

const DEFAULTS = {
  context: 3,
  /** Some clients keep whole conversations on one line of the file. */
  longestLine: 240,
};

/** What is to become of one file. */
export interface FileChange {
  readonly file: string;
  readonly label: string;
  readonly format: 'json' | 'toml';
  /** As it was read; null when there is none. */
  readonly present: TextFile | null;
  /** Null: the file goes. */
  readonly after: Buffer | null;
}

/** A change as a person sees it before it is made. */
export interface ShownChange {
  readonly file: string;
  readonly label: string;
  /** Unified, with what may be secret hidden. */
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

/** Between the look at the diff and the yes a client may have written its file. */
export async function refuseIfStale(changes: readonly FileChange[]): Promise<void> {
  for (const { file, present } of changes) {
    const now = await readBytes(file);
    const isSame = now === null || present === null ? now === present : now.equals(present.bytes);
    if (isSame) continue;
    throw new PmlError('file_changed', `${file} was changed by another program just now`, {
      hint: 'Nothing was written. Run the command again.',
    });
  }
}

/** What changes in a file, as `diff -u` shows it; null is a file that is not there. */
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

/** Files on the screen are shown whole. */
const UNCUT = { maxString: 2 ** 28, maxText: 2 ** 29, maxNodes: 2 ** 28 };

/** Under these keys every value may open something, whatever its name. */
const SECRET_GROUPS = new Set(['env', 'headers', 'http_headers', 'auth', 'oauth']);

/** But for these, which say how and not with what. */
const HARMLESS = new Set(['kind', 'scope', 'scopes']);

/** Nothing but a reference: it says where the value is. */
const REFERENCE = /^\$\{[^}]*\}$/;

/** Worth looking for elsewhere; a plain word would be found all over the file. */
const TELLING = /^(?=.*\d)(?=.*[A-Za-z]).{8,}$/s;

/** One that is not closed goes to the end, so that its end is looked for once. */
const TOML_TEXT = /"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\[\s\S]?|[^"\\])*(?:"|$)|'[^']*(?:'|$)/g;

const TOML_QUOTES = /^("""|'''|"|')|("""|'''|"|')$/g;

/** The key of a line `key = value`, up to the sign. */
const TOML_KEY =
  /^[ \t]*(?:[\w-]+|"(?:\\.|[^"\\])*"|'[^']*')(?:[ \t]*\.[ \t]*(?:[\w-]+|"(?:\\.|[^"\\])*"|'[^']*'))*[ \t]*=/;

interface Shown {
  readonly text: string;
  readonly format: 'json' | 'toml';
}

/**
 * Copies of configuration files fit for the screen. A value that is hidden in one of them is hidden
 * wherever else it stands, in all of them.
 */
function maskSecrets(files: readonly Shown[]): string[] {
  const known = new Set<string>();
  const mask = (redact: Redactor) =>
    files.map(({ text, format }) =>
      format === 'toml' ? maskToml(text, redact, known) : maskJson(text, redact, known),
    );
  // The first round finds what the second one looks for.
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

/** In a table of secrets, and at a key whose name says so, every text goes. */
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

interface TomlPair {
  /** With its sign; empty for what stands before the first one. */
  readonly key: string;
  /** With all the lines that belong to it. */
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
