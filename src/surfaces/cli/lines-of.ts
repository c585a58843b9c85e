import type { NumberedLine } from '../../engine/traces/import-traces.ts';

/** A byte order mark, as some editors put before the first character. */
const MARK = '\ufeff';

/** Splits text that comes in pieces; what is longer than `maxLength` is counted but not kept. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  maxLength: number,
): AsyncGenerator<NumberedLine> {
  let number = 1;
  let line = '';
  let isTooLong = false;
  const take = (text: string) => {
    isTooLong ||= line.length + text.length > maxLength;
    line = isTooLong ? '' : line + text;
  };
  const finished = (): NumberedLine => {
    const text = isTooLong ? null : number === 1 && line.startsWith(MARK) ? line.slice(MARK.length) : line;
    const numbered = { number, text };
    number++;
    line = '';
    isTooLong = false;
    return numbered;
  };
  for await (const piece of pieces) {
    let from = 0;
    for (let to = piece.indexOf('\n'); to !== -1; to = piece.indexOf('\n', from)) {
      take(piece.slice(from, to));
      yield finished();
      from = to + 1;
    }
    take(piece.slice(from));
  }
  if (line !== '' || isTooLong) yield finished();
}
