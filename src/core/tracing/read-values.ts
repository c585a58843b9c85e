import { withoutEnding } from '../vocabulary/text.ts';
import type { CallSpan } from './derive-trace.ts';
import { isDistinctive } from './distinctive.ts';

const DEFAULTS = {
  /** Strings and numbers looked at in one call's arguments, and in one result. */
  leaves: 2_000,
  /** Text taken apart in one call's arguments, and in one result, in UTF-16 units. */
  text: 64 * 1024,
  /** In a whole run; calls beyond it are not looked at. */
  runText: 512 * 1024,
  /** Distinctive values kept of one result. */
  values: 2_000,
  /** Longest name that is looked for behind a folder, in UTF-16 units. */
  name: 255,
  maxDepth: 64,
};

/** How a value stands in a text: by itself, as a line or word, or as part of a path or word. */
export type Grade = 'whole' | 'word' | 'part';
export const GRADES: readonly Grade[] = ['whole', 'word', 'part'];

/** A distinctive value of a result, and what it is of the text at its path. */
export interface ReadValue {
  readonly value: string;
  readonly path: string;
  readonly grade: Grade;
  /** It is what a line lists, after this bullet. */
  readonly line?: string;
  /** It is a name in a folder: the argument of this name, a slash, and what stands at the path. */
  readonly beside?: string;
}

/** What is distinctive in a call. */
export interface ReadCall {
  readonly span: CallSpan;
  readonly arguments: readonly ReadText[];
  /** Of its result, if it succeeded; each once, where it stands by itself if it does anywhere. */
  readonly values: readonly ReadValue[];
}

/** Takes calls apart, within the limits of one run. */
export interface Reader {
  call(span: CallSpan): ReadCall;
  texts(value: unknown): readonly ReadText[];
}

export interface ReadText extends Leaf {
  readonly pieces: readonly string[];
}

export function createReader(): Reader {
  let runRoom = DEFAULTS.runText;

  /** Leaves as far as the limits allow; the text of the last one is cut. */
  const textsOf = (value: unknown): Leaf[] => {
    let room = Math.min(DEFAULTS.text, runRoom);
    const texts = room > 0 ? leavesOf(value, DEFAULTS.leaves) : [];
    return texts.flatMap(({ path, text }) => {
      if (room <= 0) return [];
      const kept = text.slice(0, room);
      room -= kept.length;
      runRoom -= kept.length;
      return [{ path, text: kept }];
    });
  };

  const texts = (value: unknown) => textsOf(value).map((leaf) => ({ ...leaf, pieces: piecesOf(leaf.text) }));

  return {
    texts,
    call(span) {
      const given = texts(span.start.args);
      const found = span.end?.success ? textsOf(recordedValue(span.end.result)) : [];
      return { span, arguments: given, values: valuesIn(found, given) };
    },
  };
}

function valuesIn(texts: readonly Leaf[], given: readonly Leaf[]): ReadValue[] {
  const values = new Map<string, ReadValue>();
  const all = function* () {
    // All that stand by themselves first: theirs is the most telling path.
    for (const { path, text } of texts)
      for (const value of graded(text, 'whole')) yield { value, path, grade: 'whole' as const };
    yield* listed(texts);
    yield* inFolders(texts, given);
    for (const grade of ['word', 'part'] as const) {
      for (const { path, text } of texts)
        for (const value of graded(text, grade)) yield { value, path, grade };
    }
  };
  for (const each of all()) {
    if (values.size >= DEFAULTS.values) break;
    if (!values.has(each.value) && isDistinctive(each.value)) values.set(each.value, each);
  }
  return [...values.values()];
}

function* listed(texts: readonly Leaf[]): Generator<ReadValue> {
  for (const { path, text } of texts) {
    for (const { item, bullet } of lineItems(text)) yield { value: item, path, grade: 'word', line: bullet };
  }
}

/**
 * A listing names what is in the folder that was asked for: `notes` gave `[FILE] a.txt`, so it gave
 * `notes/a.txt`. Both together tell where it came from, however short the name is.
 */
function* inFolders(texts: readonly Leaf[], given: readonly Leaf[]): Generator<ReadValue> {
  for (const { path: beside, text: folder } of given.filter(isFolder)) {
    for (const { path, text } of texts) {
      const isOne = !text.includes('\n');
      for (const { item, bullet } of lineItems(text)) {
        if (item.length > DEFAULTS.name || item.startsWith('/')) continue;
        const value = `${folder.replace(/\/$/, '')}/${item}`;
        const line = isOne && bullet === '' ? {} : { line: bullet };
        yield { value, path, grade: 'whole', beside, ...line };
      }
    }
  }
}

/** An argument by its name alone, of one word. */
function isFolder({ path, text }: Leaf): boolean {
  return /^[\w$-]+$/.test(path) && text !== '' && text.length <= DEFAULTS.name && !/\s/.test(text);
}

/** Every distinctive piece of a text, at every grade. */
export function piecesOf(text: string): string[] {
  const pieces = new Set<string>();
  for (const grade of GRADES) {
    for (const piece of graded(text, grade)) {
      if (!pieces.has(piece) && isDistinctive(piece)) pieces.add(piece);
    }
  }
  return [...pieces];
}

function graded(text: string, grade: Grade): Iterable<string> {
  if (grade === 'whole') return [text, text.trim()];
  return grade === 'word' ? linesAndWords(text) : segments(text);
}

/** What a list puts before an item: `[FILE]`, `-`, `3.` */
const BULLET = /^(?:\[[A-Z]+\]|[-*•+]|\d+[.)])\s+/;
/** The same for every item, so that items can be told by it. */
const MARK = /^(?:\[[A-Z]+\]|[-*•+])\s+/;
const NUMBER = /^\d+[.)]\s+/;
/** `Path: …` */
const LABEL = /^[\p{L}][\p{L}\p{N} _-]{0,40}:\s+/u;
const OPENING = /^["'`([{<*]+/;
const CLOSING = '"\'`)]}>.,;:!?*';
const SEPARATORS = /[\s"'`,;:()[\]{}<>|=&?#/\\]+/;
const QUOTES = /["'`]/;

/** The lines of a text, without bullet and label too, and its words without the punctuation around them. */
export function* linesAndWords(text: string): Generator<string> {
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    yield line;
    const item = line.replace(BULLET, '');
    if (item !== line) yield item;
    const labelled = item.replace(LABEL, '');
    if (labelled !== item) yield labelled;
    for (const word of line.split(/\s+/)) yield withoutEnding(word.replace(OPENING, ''), CLOSING);
  }
}

/** What each line lists, and what stands before all of its kind: `[FILE] `, or nothing. */
function* lineItems(text: string): Generator<{ readonly item: string; readonly bullet: string }> {
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    const bullet = MARK.exec(line)?.[0] ?? '';
    if (line !== bullet && !NUMBER.test(line)) yield { item: line.slice(bullet.length), bullet };
  }
}

/** Parts of paths and addresses, fields of JSON, quoted parts. */
function* segments(text: string): Generator<string> {
  yield* text.split(SEPARATORS);
  yield* text.split(QUOTES);
}

/** A string or number somewhere in a JSON value. */
export interface Leaf {
  /** `items[0].id`; empty when the value itself is the leaf. */
  readonly path: string;
  /** Numbers as JSON writes them. */
  readonly text: string;
}

/** In document order, the first `limit`. */
function leavesOf(value: unknown, limit: number): Leaf[] {
  const leaves: Leaf[] = [];
  visit(value, '', 0);
  return leaves;

  function visit(value: unknown, path: string, depth: number): void {
    if (leaves.length >= limit || depth > DEFAULTS.maxDepth) return;
    if (typeof value === 'string' || typeof value === 'number') leaves.push({ path, text: String(value) });
    else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`, depth + 1);
    } else if (value !== null && typeof value === 'object') {
      for (const [key, item] of Object.entries(value)) visit(item, path + step(key, path), depth + 1);
    }
  }
}

function step(key: string, path: string): string {
  if (/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) return path === '' ? key : `.${key}`;
  return key.includes('"') ? `['${key}']` : `["${key}"]`;
}

/**
 * What a recorded result is to the program that got it: content blocks of MCP (`[{type: 'text', text}]`) are
 * what they say, anything else is as it stands.
 */
function recordedValue(result: unknown): unknown {
  const isBlocks = Array.isArray(result) && result.length > 0 && result.every(isContentBlock);
  return isBlocks ? blockValue(result) : result;
}

const BLOCK_TYPES = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

function isContentBlock(value: unknown): value is { readonly text?: unknown } {
  return (
    value !== null && typeof value === 'object' && 'type' in value && BLOCK_TYPES.has(value.type as string)
  );
}

/** A block of an MCP result; only texts have one. */
interface Block {
  readonly text?: unknown;
}

/** Most texts are none, and finding that out by a failed parse costs more than the rest of a call. */
const LOOKS_LIKE_JSON = /^\s*(?:[[{"\d-]|(?:true|false|null)\s*$)/;

/** The texts of content blocks, line by line. */
export function blockText(blocks: readonly Block[]): string {
  return blocks
    .map((block) => block.text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

/** What content blocks say to a program: parsed where their text is JSON, else the text. */
export function blockValue(blocks: readonly Block[]): unknown {
  const text = blockText(blocks);
  if (!LOOKS_LIKE_JSON.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
