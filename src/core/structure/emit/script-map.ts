import { TraceMap, traceSegment } from '@jridgewell/trace-mapping';
import { LineIndex, type SourcePosition } from '../parse/source-position.ts';
import type { EditedText } from './text-edits.ts';

interface Stripped {
  readonly code: string;
  readonly map?: { readonly mappings: string; readonly sources: string[]; readonly names: string[] };
}

/**
 * From a place in the script back to the user's source: first what stripping types moved, then what the
 * hooks moved. Errors are rare, so the map is made when it is first asked for.
 */
export function createLocate(
  source: string,
  offset: number,
  edited: EditedText,
  strip: () => Stripped,
): (line: number, column: number) => SourcePosition | null {
  let find: ((line: number, column: number) => number | null) | null = null;
  let lines: LineIndex | null = null;
  return (line, column) => {
    find ??= createFind(edited.text, strip());
    const found = find(line, column);
    if (found === null) return null;
    const old = edited.toOld(found) - offset;
    if (old < 0 || old > source.length) return null;
    lines ??= new LineIndex(source);
    return lines.positionAt(old);
  };
}

/** From a place in the stripped code to its offset in the text before. */
function createFind(text: string, { code, map }: Stripped): (line: number, column: number) => number | null {
  const trace = new TraceMap({ version: 3, mappings: '', sources: [], names: [], ...map });
  const [before, after] = [new LineIndex(text), new LineIndex(code)];
  return (line, column) => {
    const segment = traceSegment(trace, line - 1, column - 1);
    if (segment?.length !== 4 && segment?.length !== 5) return null;
    const [mappedColumn, , oldLine, oldColumn] = segment;
    const start = before.offsetAt({ line: oldLine + 1, column: oldColumn + 1 });
    // The map knows where names and values begin; what follows one, an operator say, is found by counting on.
    const mapped = after.offsetAt({ line, column: mappedColumn + 1 });
    const between = code.slice(mapped, mapped + column - 1 - mappedColumn);
    return text.startsWith(between, start) ? start + between.length : start;
  };
}
