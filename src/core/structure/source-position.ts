/** Both count from 1; columns in UTF-16 units, as editors and V8 do. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

export function positionAt(source: string, offset: number): SourcePosition {
  let line = 1;
  let lineStart = 0;
  for (let at = source.indexOf('\n'); at !== -1 && at < offset; at = source.indexOf('\n', at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

export function offsetAt(source: string, { line, column }: SourcePosition): number {
  let lineStart = 0;
  for (let n = 1; n < line; n++) {
    const end = source.indexOf('\n', lineStart);
    if (end === -1) break;
    lineStart = end + 1;
  }
  return lineStart + column - 1;
}
