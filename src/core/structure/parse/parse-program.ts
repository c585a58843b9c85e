import {
  type ArrowFunctionExpression,
  type Expression,
  type FunctionBody,
  type Function as FunctionNode,
  type Program,
  parseSync,
  type Span,
  type Statement,
} from 'oxc-parser';
import type { ErrorShape } from '../../vocabulary/pml-error.ts';
import { measureNesting } from './nesting.ts';

/** Code is the body of an async function: `await` and `return` both work at its top. */
const HEAD = '(async function () {';
const TAIL = '\n})';

const HINT = 'Send TypeScript or JavaScript: statements that may use await and return.';

const DEFAULTS = {
  fileName: 'program.ts',
  /** In characters. Preparing blocks the thread: code of this length takes a quarter of a second. */
  maxLength: 250_000,
};

export interface ParsedProgram {
  /** The user's code. */
  readonly source: string;
  /** The source within its function; all offsets in the tree (UTF-16 units) refer to this text. */
  readonly text: string;
  /** Where the source begins in `text`. */
  readonly offset: number;
  readonly program: Program;
  readonly body: FunctionBody;
}

export type Parsed =
  | { readonly ok: true; readonly value: ParsedProgram }
  | { readonly ok: false; readonly error: ErrorShape; readonly at: SourcePosition };

/** Parses TypeScript to its syntax tree (ESTree); an error names its place in the source. */
export function parseProgram(source: string): Parsed {
  const unfit = findUnfit(source);
  if (unfit) return unfit;
  const parsed = parseBody(source);
  const sole = parsed.ok ? soleFunction(parsed.value.body) : null;
  if (!parsed.ok || !sole) return parsed;
  const { offset } = parsed.value;
  const inner = bodyText(source, sole, offset);
  if (inner !== null) return parseBody(inner);
  // A declaration may have a purpose elsewhere; an expression that is not used has none.
  if (sole.type === 'FunctionDeclaration') return parsed;
  const at = positionAt(source, sole.start - offset);
  return { ok: false, error: { code: 'invalid_argument', message: UNCALLED, hint: UNCALLED_HINT }, at };
}

const UNCALLED = 'The code is a function that nothing calls';
const UNCALLED_HINT =
  'Send the statements of its body, with return at the end. What it takes as arguments is in args.';

function parseBody(source: string): Parsed {
  const text = `${HEAD}${source}${TAIL}`;
  const options = { lang: 'ts', sourceType: 'module', showSemanticErrors: true } as const;
  const { program, errors } = parseSync(DEFAULTS.fileName, text, options);
  const fail = (message: string, offset: number): Parsed => {
    const at = positionAt(source, Math.min(Math.max(offset - HEAD.length, 0), source.length));
    return { ok: false, error: { code: 'invalid_argument', message, hint: HINT }, at };
  };
  const body = bodyOf(program);
  const stray = body?.body.find(isModuleStatement);
  if (stray)
    return fail('Code cannot import or export: it has the tools of mcp and nothing else', stray.start);
  const problem = errors[0];
  if (problem) return fail(problem.message, problem.labels[0]?.start ?? HEAD.length);
  if (!body) return fail('There is one closing brace too many', text.length);
  return { ok: true, value: { source, text, offset: HEAD.length, program, body } };
}

type FunctionLike = ArrowFunctionExpression | FunctionNode;

/** The function that is all there is in a program: models often write `async () => { … }`. */
function soleFunction({ body: [statement, ...more] }: FunctionBody): FunctionLike | null {
  if (!statement || more.length > 0) return null;
  if (statement.type === 'FunctionDeclaration') return statement;
  return statement.type === 'ExpressionStatement' ? functionIn(statement.expression) : null;
}

function functionIn(expression: Expression): FunctionLike | null {
  const inner = withoutParentheses(expression);
  return inner.type === 'ArrowFunctionExpression' || inner.type === 'FunctionExpression' ? inner : null;
}

function withoutParentheses(expression: Expression): Expression {
  let inner = expression;
  while (inner.type === 'ParenthesizedExpression') inner = inner.expression;
  return inner;
}

/**
 * The source with blanks for everything around the function's body, so that all places stay the same; null if it
 * takes arguments by other names, or a `return` does not fit.
 */
function bodyText(source: string, { params, body, ...own }: FunctionLike, offset: number): string | null {
  const isOfArgs = params.every((param) => param.type === 'Identifier' && param.name === 'args');
  const isGenerator = 'generator' in own && own.generator;
  if (!body || !isOfArgs || params.length > 1 || isGenerator) return null;
  const isBlock = body.type === 'BlockStatement';
  const [start, end] = isBlock ? [body.start + 1, body.end - 1] : [body.start, body.end];
  const before = source.slice(0, start - offset).replace(/[^\r\n]/g, ' ');
  const after = source.slice(end - offset).replace(/[^\r\n]/g, ' ');
  const inner = source.slice(start - offset, end - offset);
  if (isBlock) return before + inner + after;
  if (!before.endsWith(' '.repeat(RETURN.length))) return null;
  return before.slice(0, -RETURN.length) + RETURN + inner + after;
}

const RETURN = 'return ';

/**
 * The last statement, if it starts something and does not wait for it: the program would end first, and end it. What
 * it gives is meant to be the result.
 */
export function promiseAtEnd({ body }: ParsedProgram): Span | null {
  const statement = body.body.at(-1);
  if (statement?.type !== 'ExpressionStatement') return null;
  const asyncNames = new Set(body.body.flatMap(asyncNamesIn));
  return isPromise(statement.expression, asyncNames) ? statement : null;
}

function isPromise(expression: Expression, asyncNames: ReadonlySet<string>): boolean {
  const call = withoutParentheses(expression);
  if (call.type !== 'CallExpression') return false;
  const callee = withoutParentheses(call.callee);
  if (callee.type === 'Identifier') return asyncNames.has(callee.name);
  if (callee.type !== 'MemberExpression') return functionIn(callee)?.async === true;
  const { object, property } = callee;
  const name = property.type === 'Identifier' && !callee.computed ? property.name : '';
  if (['then', 'catch', 'finally'].includes(name)) return isPromise(object, asyncNames);
  const root = rootOf(object);
  return root === 'mcp' || root === 'capabilities' || (root === 'Promise' && name !== 'withResolvers');
}

/** The name at the beginning of `a.b.c`. */
function rootOf(expression: Expression): string | null {
  let inner = expression;
  while (inner.type === 'MemberExpression') inner = inner.object;
  return inner.type === 'Identifier' ? inner.name : null;
}

function asyncNamesIn(statement: Statement): string[] {
  if (statement.type === 'FunctionDeclaration')
    return statement.async && statement.id ? [statement.id.name] : [];
  if (statement.type !== 'VariableDeclaration') return [];
  return statement.declarations.flatMap(({ id, init }) =>
    id.type === 'Identifier' && init && functionIn(init)?.async ? [id.name] : [],
  );
}

/** Code that the parser must not get: it would take too long, or crash the process. */
function findUnfit(source: string): Extract<Parsed, { ok: false }> | null {
  if (source.length > DEFAULTS.maxLength) {
    const message = `The code has ${source.length} characters; the maximum is ${DEFAULTS.maxLength}`;
    const hint = 'Pass data as args, or let a tool read it.';
    return { ok: false, error: { code: 'too_large', message, hint }, at: positionAt(source, 0) };
  }
  const nesting = measureNesting(source);
  if (nesting.kind === 'fine') return null;
  const at = positionAt(source, nesting.offset);
  if (nesting.kind === 'deep') {
    const hint = 'Split it: assign parts of it to variables.';
    return { ok: false, error: { code: 'too_large', message: 'The code is nested too deeply', hint }, at };
  }
  const message = 'It is not clear whether this slash divides or begins a regular expression';
  const hint = 'Put the regular expression or the division in parentheses.';
  return { ok: false, error: { code: 'invalid_argument', message, hint }, at };
}

/** Null if the source closed the function around it. */
function bodyOf({ body: [statement, ...more] }: Program): FunctionBody | null {
  if (more.length > 0 || statement?.type !== 'ExpressionStatement') return null;
  const { expression } = statement;
  const inner = expression.type === 'ParenthesizedExpression' ? expression.expression : expression;
  return inner.type === 'FunctionExpression' ? inner.body : null;
}

function isModuleStatement({ type }: Statement): boolean {
  return type === 'ImportDeclaration' || type.startsWith('Export');
}

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
