/** One change of a text. */
export interface Edit {
  readonly start: number;
  /** Where what is replaced ends; `start` for an insertion. */
  readonly end: number;
  readonly text: string;
  /** The place in the old text that the new text stands for. */
  readonly anchor: number;
  /** Where several start at one place: the lower comes first. */
  readonly rank: number;
}

export interface EditedText {
  readonly text: string;
  /** The place in the old text that a place in the new one stands for. */
  toOld(offset: number): number;
}

/** Edits may touch but not overlap. */
export function applyEdits(old: string, edits: readonly Edit[]): EditedText {
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.rank - b.rank);
  const parts: string[] = [];
  let copied = 0;
  for (const { start, end, text } of sorted) {
    parts.push(old.slice(copied, start), text);
    copied = end;
  }
  parts.push(old.slice(copied));
  return { text: parts.join(''), toOld: (offset) => toOld(sorted, offset) };
}

function toOld(edits: readonly Edit[], offset: number): number {
  /** How far the new text is ahead of the old one. */
  let shift = 0;
  for (const { start, end, text, anchor } of edits) {
    if (offset < start + shift) break;
    if (offset < start + shift + text.length) return anchor;
    shift += text.length - (end - start);
  }
  return offset - shift;
}
