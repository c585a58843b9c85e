import { TraceMap, traceSegment } from '@jridgewell/trace-mapping';
import { transformSync } from 'oxc-transform';
import type { ErrorShape } from '../../vocabulary/pml-error.ts';
import { type BuiltStructure, buildStructure } from '../evaluate/build-structure.ts';
import {
  LineIndex,
  type ParsedProgram,
  parseProgram,
  promiseAtEnd,
  type SourcePosition,
} from '../parse/parse-program.ts';
import { StructureTooLarge } from './draft.ts';
import { applyEdits, type Edit, type EditedText, type HookNames, instrument } from './instrument.ts';
import type { StaticStructure } from './static-structure.ts';

/** A program ready for the sandbox, with everything known about it before it runs. */
export interface PreparedProgram {
  readonly source: string;
  /** Only blanks and comments. */
  readonly isEmpty: boolean;
  /**
   * JavaScript: an async function of (mcp, capabilities, args, deps, console, hooks). It calls
   * - `hooks.call(site, receiver, name, arguments)` in place of `receiver[name](...arguments)`,
   * - `hooks.test(site, value)` where a decision depends on whether `value` is truthy; it returns the value to test,
   * - `hooks.test(site, true, branch)` where the branch of that name begins.
   */
  readonly script: string;
  readonly sites: readonly Site[];
  readonly structure: StaticStructure;
  /** Maps a place in `script`, as V8 counts, to `source`; null for code that is not from the source. */
  locate(line: number, column: number): SourcePosition | null;
}

/** A place that reports when it is run; `node` is its (first) node in the structure. */
export type Site =
  | { readonly kind: 'operation'; readonly operation: string; readonly node: string }
  | { readonly kind: 'decision'; readonly node: string };

export type Prepared =
  | { readonly ok: true; readonly value: PreparedProgram }
  | { readonly ok: false; readonly error: ErrorShape; readonly at: SourcePosition };

const START: SourcePosition = { line: 1, column: 1 };
const SPLIT_UP = 'Split it into smaller pieces of code, or into functions.';

/** Turns text into a program that can run and be traced. Errors are returned, not thrown. */
export function prepareProgram(source: string): Prepared {
  const parsed = parseProgram(source);
  if (!parsed.ok) return parsed;
  try {
    const built = buildStructure(parsed.value);
    return built.refusal ? refuse(parsed.value, built.refusal) : finish(parsed.value, built);
  } catch (thrown) {
    if (thrown instanceof StructureTooLarge) return fail('too_large', thrown.message, SPLIT_UP);
    if (thrown instanceof RangeError) return fail('too_large', 'The code is nested too deeply', SPLIT_UP);
    throw thrown;
  }
}

function finish(parsed: ParsedProgram, { structure, marks }: BuiltStructure): Prepared {
  const {
    source,
    text,
    offset,
    body: { body: statements },
  } = parsed;
  const names = hookNames(source);
  const body = { start: offset, end: offset + source.length };
  const edited = applyEdits(text, [
    { start: 0, end: body.start, text: head(names), anchor: -1, rank: 0 },
    ...awaitAtEnd(parsed),
    ...instrument(marks, text, names),
    { start: body.end, end: text.length, text: '\n})(); })', anchor: -1, rank: Number.POSITIVE_INFINITY },
  ]);
  const { code, errors } = strip(edited.text, false);
  const problem = errors[0];
  if (problem) return fail('invalid_argument', problem.message, SPLIT_UP);
  const sites = marks.map(
    ({ id, ...mark }): Site =>
      mark.kind === 'operation'
        ? { kind: 'operation', operation: mark.operation, node: id }
        : { kind: 'decision', node: id },
  );
  const isEmpty = statements.length === 0;
  const locate = createLocate(source, offset, edited, () => strip(edited.text, true));
  return { ok: true, value: { source, isEmpty, script: asExpression(code), sites, structure, locate } };
}

/** A promise at the end that nothing awaits is the result. */
function awaitAtEnd(parsed: ParsedProgram): Edit[] {
  const last = promiseAtEnd(parsed);
  if (!last) return [];
  return [
    {
      start: last.start,
      end: last.start,
      text: 'return await ',
      anchor: last.start,
      rank: Number.NEGATIVE_INFINITY,
    },
  ];
}

/** The source gets its own inner function, so that `arguments` is empty and every name can be declared. */
function head({ hooks, spare, same }: HookNames): string {
  const params = `mcp, capabilities, args, deps, console, ${hooks}`;
  const own = `let ${spare}; const ${same} = (x) => x;`;
  return `(async function (${params}) {"use strict"; ${own} return (async function () {`;
}

function strip(text: string, sourcemap: boolean) {
  return transformSync('program.ts', text, { lang: 'ts', sourceType: 'module', sourcemap });
}

function asExpression(code: string): string {
  const text = code.trimEnd();
  return text.endsWith(';') ? text.slice(0, -1) : text;
}

/** Compared after decoding escapes, so that the program cannot spell the names in any way. */
function hookNames(source: string): HookNames {
  const spelt = source.replace(/\\u(?:\{0*([0-9a-f]{1,6})\}|([0-9a-f]{4}))/gi, (all, braced, plain) => {
    const code = Number.parseInt(braced ?? plain, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
  let hooks = '$pml';
  for (let n = 2; spelt.includes(hooks); n++) hooks = `$pml${n}`;
  return { hooks, spare: `${hooks}_value`, same: `${hooks}_same` };
}

function refuse({ source, offset }: ParsedProgram, refusal: { offset: number; message: string }): Prepared {
  const at = new LineIndex(source).positionAt(refusal.offset - offset);
  return { ok: false, error: { code: 'invalid_argument', message: refusal.message }, at };
}

function fail(code: 'invalid_argument' | 'too_large', message: string, hint: string): Prepared {
  return { ok: false, error: { code, message, hint }, at: START };
}

interface Stripped {
  readonly code: string;
  readonly map?: { readonly mappings: string; readonly sources: string[]; readonly names: string[] };
}

/**
 * Maps a place in the script back to the user's source: first the shifts from stripping types, then those
 * from the hooks. Errors are rare, so the map is built when it is first needed.
 */
function createLocate(
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

/** Maps a place in the stripped code to its offset in the text before. */
function createFind(text: string, { code, map }: Stripped): (line: number, column: number) => number | null {
  const trace = new TraceMap({ version: 3, mappings: '', sources: [], names: [], ...map });
  const [before, after] = [new LineIndex(text), new LineIndex(code)];
  return (line, column) => {
    const segment = traceSegment(trace, line - 1, column - 1);
    if (segment?.length !== 4 && segment?.length !== 5) return null;
    const [mappedColumn, , oldLine, oldColumn] = segment;
    const start = before.offsetAt({ line: oldLine + 1, column: oldColumn + 1 });
    // The map has the beginnings of names and values; what follows, such as an operator, is found by counting on.
    const mapped = after.offsetAt({ line, column: mappedColumn + 1 });
    const between = code.slice(mapped, mapped + column - 1 - mappedColumn);
    return text.startsWith(between, start) ? start + between.length : start;
  };
}
