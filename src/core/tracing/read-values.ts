import type { CallSpan } from './call-spans.ts';
import { isDistinctive } from './distinctive.ts';
import { linesAndWords, segments } from './text-pieces.ts';
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
};

/** How a value stands in a text: by itself, as a line or word, or as part of a path or word. */
export type Grade = 'whole' | 'word' | 'part';
export const GRADES: readonly Grade[] = ['whole', 'word', 'part'];

/** What is distinctive in a call. */
export interface ReadCall {
  readonly span: CallSpan;
  readonly arguments: readonly ReadText[];
  /** Of its result, if it succeeded; each once, where it stands by itself if it does anywhere. */
  readonly values: readonly { readonly value: string; readonly path: string; readonly grade: Grade }[];
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
    call: (span) => ({
      span,
      arguments: texts(span.start.args),
      values: span.end?.success ? valuesIn(textsOf(recordedValue(span.end.result))) : [],
    }),
  };
}

function valuesIn(texts: readonly Leaf[]): ReadCall['values'] {
  const values = new Map<string, { value: string; path: string; grade: Grade }>();
  // All that stand by themselves first: theirs is the most telling path.
  for (const grade of GRADES) {
    for (const { path, text } of texts) {
      for (const value of graded(text, grade)) {
        if (values.size >= DEFAULTS.values) return [...values.values()];
        if (!values.has(value) && isDistinctive(value)) values.set(value, { value, path, grade });
      }
    }
  }
  return [...values.values()];
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
