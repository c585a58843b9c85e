import type { CallSpan } from './call-spans.ts';
import { isDistinctive } from './distinctive.ts';
import { lineItems, linesAndWords, segments } from './text-pieces.ts';
import { type Leaf, leavesOf, recordedValue } from './value-leaves.ts';

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
