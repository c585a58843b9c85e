import { homedir } from 'node:os';
import { join } from 'node:path';
import { createScanner, findNodeAtLocation, type JSONPath, type Node } from 'jsonc-parser';
import { nearestName } from '../../core/retrieval/words.ts';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { recogniseForm } from './client-form.ts';
import { type ConfigSource, dataDir, findConfig, requireTrust, trustFile } from './find-config.ts';
import { readConfig } from './read-config.ts';
import { parseSource, propertiesOf } from './source-text.ts';
import { decodeText, readTextFile, writeFileWhole } from './text-file.ts';

/** A server's entry in the file, as the configuration schema defines it. */
export type ServerEntry = Readonly<Record<string, unknown>>;

/** Adds a server to the current configuration, or to a new one in the data folder; returns the file. */
export async function addServer(source: ConfigSource, name: string, entry: ServerEntry): Promise<string> {
  return await edit(source, (text, { servers, names }, file) => {
    if (names.includes(name)) {
      throw new PmlError('invalid_argument', `${file} already has a server "${name}"`, {
        hint: `Remove it first with "pml servers remove ${name}", or choose another name.`,
      });
    }
    return setProperty(text, [...servers, name], entry);
  });
}

/** Removes a server from the current configuration; returns the file. */
export async function removeServer(source: ConfigSource, name: string): Promise<string> {
  return await edit(source, (text, { servers, names }, file) => {
    if (!names.includes(name)) {
      const meant = nearestName(name, names);
      throw new PmlError('not_found', `Server "${name}" not found in ${file}`, {
        hint: meant === null ? `Its servers: ${names.join(', ') || 'none'}.` : `Did you mean "${meant}"?`,
      });
    }
    return removeProperty(text, [...servers, name]);
  });
}

interface Place {
  readonly servers: JSONPath;
  readonly names: readonly string[];
}

/** The new text is validated before it is written. */
async function edit(
  source: ConfigSource,
  change: (text: string, place: Place, file: string) => string,
): Promise<string> {
  const data = dataDir(source);
  const { file, isFound } = (await findConfig(source)) ?? { file: join(data, 'pml.json'), isFound: false };
  const present = (await readTextFile(file)) ?? decodeText(Buffer.from('{}\n'));
  if (isFound) await requireTrust(data, file, present.bytes);
  const { root } = parseSource(file, present.text);
  const servers = recogniseForm(file, root).servers ?? ['mcpServers'];
  const holder = findNodeAtLocation(root, servers);
  const names = holder ? propertiesOf(holder).map(({ key }) => key) : [];
  const changed = change(present.text, { servers, names }, file);
  readConfig(file, changed, { env: source.env, home: source.home ?? homedir() });
  const bytes = present.encode(changed);
  // Before the write, so that a gateway that watches the file finds it trusted.
  if (isFound) await trustFile(data, file, bytes);
  await writeFileWhole(file, bytes);
  return file;
}

// Each changes one property of a JSON text and leaves every other character as it is: comments, trailing commas,
// neighbours on one line. jsonc-parser's `modify` would reformat neighbours.

/** Token kinds of jsonc-parser's scanner. Its const enum does not exist at run time. */
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const LINE_BREAK = 14;
const SPACE = 15;

/** Adds or replaces a property; creates missing objects on the path. */
export function setProperty(text: string, path: JSONPath, value: unknown): string {
  const { root } = parseSource('the file', text);
  const layout = layoutOf(text);
  const present = findNodeAtLocation(root, path);
  if (present) {
    const printed = print(value, indentAt(text, present.parent?.offset ?? 0), layout);
    return replace(text, present.offset, present.offset + present.length, printed);
  }
  let depth = path.length - 1;
  while (findNodeAtLocation(root, path.slice(0, depth))?.type !== 'object') depth--;
  const nested = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  const next = path.slice(0, depth + 1);
  // For example `"mcpServers": null`: the key exists but is not an object.
  if (findNodeAtLocation(root, next)) return setProperty(text, next, nested);
  return insert(text, findNodeAtLocation(root, path.slice(0, depth))!, String(path[depth]), nested, layout);
}

/** Does nothing if the property is missing. Comments stay, except one after the property on its line. */
export function removeProperty(text: string, path: JSONPath): string {
  const { root } = parseSource('the file', text);
  const property = findNodeAtLocation(root, path)?.parent;
  if (property?.type !== 'property') return text;
  const siblings = property.parent?.children ?? [];
  const after = whatFollows(text, property.offset + property.length);
  const [start, end] = wholeLines(text, property.offset, after.endOfItem);
  let rest = replace(text, start, end, '');
  const previous = siblings[siblings.indexOf(property) - 1];
  if (!after.hasComma && previous) {
    const before = whatFollows(text, previous.offset + previous.length);
    rest = replace(rest, before.comma, before.comma + 1, '');
  }
  // Repeats for duplicate keys.
  return removeProperty(rest, path);
}

interface Layout {
  readonly unit: string;
  readonly eol: string;
}

function layoutOf(text: string): Layout {
  return { unit: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ', eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

function insert(text: string, object: Node, key: string, value: unknown, layout: Layout): string {
  const end = object.offset + object.length;
  const last = object.children?.at(-1);
  const property = (indent: string) => `${JSON.stringify(key)}: ${print(value, indent, layout)}`;
  if (!last) {
    const outer = indentAt(text, object.offset);
    const inner = outer + layout.unit;
    const kept = text.slice(object.offset, end - 1).trimEnd();
    return replace(
      text,
      object.offset,
      end,
      `${kept}${layout.eol}${inner}${property(inner)}${layout.eol}${outer}}`,
    );
  }
  const lastEnd = last.offset + last.length;
  if (!text.slice(object.offset, end).includes('\n')) {
    return replace(text, lastEnd, lastEnd, `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  }
  const indent = indentAt(text, last.offset);
  const { hasComma, endOfItem } = whatFollows(text, lastEnd);
  const added = `${layout.eol}${indent}${property(indent)}${hasComma ? ',' : ''}`;
  const behind = replace(text, endOfItem, endOfItem, added);
  return hasComma ? behind : replace(behind, lastEnd, lastEnd, ',');
}

/**
 * Whether a comma follows the property, and where the property ends with that comma and a comment on its
 * line.
 */
function whatFollows(text: string, end: number): { hasComma: boolean; comma: number; endOfItem: number } {
  const scanner = createScanner(text);
  scanner.setPosition(end);
  let comma = -1;
  let endOfItem = end;
  let sameLine = true;
  for (;;) {
    const token: number = scanner.scan();
    const tokenEnd = scanner.getTokenOffset() + scanner.getTokenLength();
    if (token === COMMA && comma === -1) {
      comma = scanner.getTokenOffset();
      endOfItem = tokenEnd;
      sameLine = true;
    } else if (token === LINE_COMMENT || token === BLOCK_COMMENT) {
      if (sameLine) endOfItem = tokenEnd;
    } else if (token === LINE_BREAK) {
      sameLine = false;
      if (comma !== -1) break;
    } else if (token !== SPACE) break;
  }
  return { hasComma: comma !== -1, comma, endOfItem };
}

/** The range, extended to whole lines if nothing else is on them. */
function wholeLines(text: string, start: number, end: number): [start: number, end: number] {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const rest = /^[ \t]*(\r?\n)?/.exec(text.slice(end))!;
  const isAlone = text.slice(lineStart, start).trim() === '';
  if (isAlone && rest[1] !== undefined) return [lineStart, end + rest[0].length];
  return isAlone ? [start, end + rest[0].length] : [start, end];
}

function print(value: unknown, indent: string, { unit, eol }: Layout): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent);
}

/** Whitespace at the start of the line that contains the offset. */
function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart))![0];
}

function replace(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}
