import { withoutEnding } from '../vocabulary/text.ts';
import type { CallSpan } from './derive-trace.ts';
import { REDACTED } from './redact.ts';

const DEFAULTS = {
  /** Most strings and numbers read from one call's arguments, and from one result. */
  leaves: 2_000,
  /** Most text split in one call's arguments, and in one result, in UTF-16 units. */
  text: 64 * 1024,
  /** Most text read in a whole run; later calls are not read. */
  runText: 512 * 1024,
  /** Most distinctive values kept from one result. */
  values: 2_000,
  /** Longest name that is combined with a folder, in UTF-16 units. */
  name: 255,
  maxDepth: 64,
  /** Shortest text whose origin can be recognised, in UTF-16 units. */
  minLength: 6,
  /** Longest such text; values of results are cut to this length before they are stored. */
  maxLength: 64 * 1024,
  /** Least number of letters and digits, so that a line of dashes does not count. */
  minAlphanumerics: 4,
  /** Shortest phrase of several words without digit, dot or slash: `in progress` is too common. */
  minPhraseLength: 14,
  /** Shortest single word without digit, dot or slash. */
  minWordLength: 20,
  /** Least number of digits in a name such as `abc123`, unless it has `minMixedLength` characters. */
  minDigits: 3,
  minMixedLength: 8,
  /** Least number of digits in a number, without leading and trailing zeros. */
  minSignificantDigits: 6,
};

/** Whether a value is a whole text, a line or word of it, or a part of a path or word. */
export type Grade = 'whole' | 'word' | 'part';
export const GRADES: readonly Grade[] = ['whole', 'word', 'part'];

/** A distinctive value of a result, and how it relates to the text at its path. */
export interface ReadValue {
  readonly value: string;
  readonly path: string;
  readonly grade: Grade;
  /** The value is the rest of a line after this bullet. */
  readonly line?: string;
  /** The value is a name in a folder: the argument with this name, a slash, and the text at the path. */
  readonly beside?: string;
}

/** The distinctive values of a call. */
export interface ReadCall {
  readonly span: CallSpan;
  readonly arguments: readonly ReadText[];
  /** Values of a successful result, without repeats; a value that occurs as a whole text is listed as that. */
  readonly values: readonly ReadValue[];
}

/** Reads the values of calls, within the limits of one run. */
export interface Reader {
  call(span: CallSpan): ReadCall;
  texts(value: unknown): readonly ReadText[];
}

/** A text with its distinctive pieces, which are looked for when they are asked for. */
export class ReadText implements Leaf {
  readonly path: string;
  readonly text: string;
  #pieces: readonly string[] | undefined;

  constructor({ path, text }: Leaf) {
    this.path = path;
    this.text = text;
  }

  get pieces(): readonly string[] {
    this.#pieces ??= piecesOf(this.text);
    return this.#pieces;
  }
}

interface RememberedCall extends Pick<ReadCall, 'arguments' | 'values'> {
  readonly result: unknown;
  /** Characters of text that were read. */
  readonly length: number;
}

/** By a call's arguments: with each step of a job, all steps before it are read once more. */
const READ_BEFORE = new WeakMap<object, RememberedCall>();

export function createReader(): Reader {
  let runRoom = DEFAULTS.runText;

  /** Reads as many leaves as the limits allow; the text of the last one is cut. */
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

  const texts = (value: unknown) => textsOf(value).map((leaf) => new ReadText(leaf));

  return {
    texts,
    call(span) {
      const { args } = span.start;
      const result = span.end?.success ? span.end.result : undefined;
      // What the run has left must not have cut the reading short, then or now.
      const isWhole = runRoom >= 2 * DEFAULTS.text && typeof args === 'object' && args !== null;
      const known = isWhole ? READ_BEFORE.get(args) : undefined;
      if (known && known.result === result) {
        runRoom -= known.length;
        return { span, arguments: known.arguments, values: known.values };
      }
      const before = runRoom;
      const given = texts(args);
      const found = result === undefined ? [] : textsOf(recordedValue(result));
      const read = { arguments: given, values: valuesIn(found, given) };
      if (isWhole) READ_BEFORE.set(args, { ...read, result, length: before - runRoom });
      return { span, ...read };
    },
  };
}

function valuesIn(texts: readonly Leaf[], given: readonly Leaf[]): ReadValue[] {
  const values = new Map<string, ReadValue>();
  const all = function* () {
    // Whole texts first: their path is the most informative.
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
 * A listing names the files of the folder in its arguments: if `notes` gave `[FILE] a.txt`, it gave
 * `notes/a.txt`. Folder and name together identify the source, however short the name is.
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

/** A top-level argument without spaces. */
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

/** The bullet or number before an item of a list: `[FILE]`, `-`, `3.` */
const BULLET = /^(?:\[[A-Z]+\]|[-*•+]|\d+[.)])\s+/;
/** A bullet that is the same for every item, so that it identifies the list's items. */
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

/** The item of each line, and the bullet before it: `[FILE] `, or nothing. */
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

/** The first `limit` leaves, in document order. */
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
 * A recorded result as the program saw it: content blocks of MCP (`[{type: 'text', text}]`) become their
 * value, anything else is left as it is.
 */
export function recordedValue(result: unknown): unknown {
  const isBlocks = Array.isArray(result) && result.length > 0 && result.every(isContentBlock);
  return isBlocks ? blockValue(result) : result;
}

const BLOCK_TYPES = new Set(['text', 'image', 'audio', 'resource', 'resource_link']);

function isContentBlock(value: unknown): value is { readonly text?: unknown } {
  return (
    value !== null && typeof value === 'object' && 'type' in value && BLOCK_TYPES.has(value.type as string)
  );
}

/** A block of an MCP result; only text blocks have a `text`. */
interface Block {
  readonly text?: unknown;
}

/** Most texts are not JSON, and a failed parse costs more than everything else done for a call. */
const LOOKS_LIKE_JSON = /^\s*(?:[[{"\d-]|(?:true|false|null)\s*$)/;

/** The texts of content blocks, line by line. */
export function blockText(blocks: readonly Block[]): string {
  return blocks
    .map((block) => block.text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

/** The value that content blocks have for a program: parsed if their text is JSON, otherwise the text. */
export function blockValue(blocks: readonly Block[]): unknown {
  const text = blockText(blocks);
  if (!LOOKS_LIKE_JSON.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const DECIMAL = /^[+-]?(\d+)(?:\.(\d+))?(?:e[+-]?\d+)?$/i;
/** A day or a time of day, which a program can know without having read it. */
const DAY_OR_TIME = /^(?:\d{4}-\d\d-\d\d|\d\d?:\d\d(?::\d\d)?)$/;
const MEDIA_TYPE = /^(?:application|audio|font|image|model|multipart|text|video)\/[\w.+-]+$/i;
const ISSUE_KEY = /^[A-Z][A-Z0-9]+-\d+$/;
/** Paths, URLs, file names, mail addresses, nested fields. */
const STRUCTURED = /^[./\\~@#$][^\s./\\]|[^\s./\\][./\\@:#%+=~$&]+[^\s./\\]/u;
const COMMON = new Set(['127.0.0.1', '0.0.0.0', 'sha256', 'sha384', 'sha512', 'node.js', 'iso-8859-1']);

/**
 * Whether a text is so rare that finding it in two places means that one was copied from the other.
 * Numbers are judged by their digits; words, states, sizes, dates and media types are too common.
 */
export function isDistinctive(text: string): boolean {
  const { minLength, maxLength, minAlphanumerics } = DEFAULTS;
  if (text.length < minLength || text.length > maxLength || text.includes(REDACTED)) return false;
  const number = DECIMAL.exec(text);
  if (number) return isDistinctiveNumber(Number(text), `${number[1]}${number[2] ?? ''}`);
  if (DAY_OR_TIME.test(text) || MEDIA_TYPE.test(text) || COMMON.has(text.toLowerCase())) return false;
  if (!hasAtLeast(minAlphanumerics, /[\p{L}\p{N}]/gu, text)) return false;
  return isLongWording(text) || STRUCTURED.test(text) || ISSUE_KEY.test(text) || isMixedName(text);
}

/** Powers of two are sizes and limits, not ids. */
function isDistinctiveNumber(value: number, digits: string): boolean {
  const significant = withoutEnding(digits.replace(/^0+/, ''), '0').length;
  return significant >= DEFAULTS.minSignificantDigits && !isPowerOfTwo(value) && !isPowerOfTwo(value + 1);
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(Math.abs(value)));
}

function isLongWording(text: string): boolean {
  if (text.length >= DEFAULTS.minWordLength) return true;
  const words = text.split(/[\s_-]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== '').length;
  return words > 1 && text.length >= DEFAULTS.minPhraseLength;
}

/** Letters and digits without a space: ids, hashes, revisions. */
function isMixedName(text: string): boolean {
  if (/\s/.test(text)) return false;
  const { minDigits, minMixedLength } = DEFAULTS;
  return hasAtLeast(text.length >= minMixedLength ? 1 : minDigits, /\p{N}/gu, text);
}

function hasAtLeast(count: number, pattern: RegExp, text: string): boolean {
  return text.matchAll(pattern).take(count).toArray().length === count;
}
