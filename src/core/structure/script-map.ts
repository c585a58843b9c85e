import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { LineIndex, type SourcePosition } from './source-position.ts';
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
function createFind(text: string, { map }: Stripped): (line: number, column: number) => number | null {
  const trace = new TraceMap({ version: 3, mappings: '', sources: [], names: [], ...map });
  const before = new LineIndex(text);
  return (line, column) => {
    const found = originalPositionFor(trace, { line, column: column - 1 });
    if (found.line === null) return null;
    return before.offsetAt({ line: found.line, column: found.column + 1 });
  };
}
