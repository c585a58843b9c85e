/** Both count from 1; columns in UTF-16 units, as editors and V8 do. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** The line terminators of the language, as V8 and source maps count them. */
const LINE_END = /\r\n?|[\n\u2028\u2029]/g;

/** Finds many positions in one text: the lines are searched for once. */
export class LineIndex {
  readonly #starts: readonly number[];

  constructor(text: string) {
    const starts = [0];
    for (const { index, 0: end } of text.matchAll(LINE_END)) starts.push(index + end.length);
    this.#starts = starts;
  }

  positionAt(offset: number): SourcePosition {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#starts[low]! + 1 };
  }

  /** A line past the last one counts as the last one. */
  offsetAt({ line, column }: SourcePosition): number {
    return this.#starts[Math.min(line, this.#starts.length) - 1]! + column - 1;
  }
}

export function positionAt(source: string, offset: number): SourcePosition {
  return new LineIndex(source).positionAt(offset);
}
