import { type FunctionBody, type Program, parseSync, type Statement } from 'oxc-parser';
import type { ErrorShape } from '../../vocabulary/pml-error.ts';
import { measureNesting } from './nesting.ts';
import { positionAt, type SourcePosition } from './source-position.ts';

/** Code is the body of an async function: `await` and `return` both work at its top. */
const HEAD = '(async function () {';
const TAIL = '\n})';

const HINT = 'Send TypeScript or JavaScript: statements that may use await and return.';

const DEFAULTS = {
  fileName: 'program.ts',
  /** In characters. Preparing blocks the thread: this much takes a quarter of a second. */
  maxLength: 250_000,
};

export interface ParsedProgram {
  /** What the user wrote. */
  readonly source: string;
  /** The source within its function; all offsets in the tree (UTF-16 units) are into this. */
  readonly text: string;
  /** Where the source begins in `text`. */
  readonly offset: number;
  readonly program: Program;
  readonly body: FunctionBody;
}

export type Parsed =
  | { readonly ok: true; readonly value: ParsedProgram }
  | { readonly ok: false; readonly error: ErrorShape; readonly at: SourcePosition };

/** TypeScript to its syntax tree (ESTree); what cannot be parsed is said with its place in the source. */
export function parseProgram(source: string): Parsed {
  const unfit = findUnfit(source);
  if (unfit) return unfit;
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
  if (!body) return fail('There is a closing brace too many', text.length);
  return { ok: true, value: { source, text, offset: HEAD.length, program, body } };
}

/** What the parser must not be given: it would take too long, or the process with it. */
function findUnfit(source: string): Extract<Parsed, { ok: false }> | null {
  if (source.length > DEFAULTS.maxLength) {
    const message = `The code has ${source.length} characters, and ${DEFAULTS.maxLength} is the most there can be`;
    const hint = 'Give data to code as args, or let a tool read it.';
    return { ok: false, error: { code: 'too_large', message, hint }, at: positionAt(source, 0) };
  }
  const nesting = measureNesting(source);
  if (nesting.kind === 'fine') return null;
  const at = positionAt(source, nesting.offset);
  if (nesting.kind === 'deep') {
    const hint = 'Give parts of it names of their own.';
    return { ok: false, error: { code: 'too_large', message: 'The code is nested too deeply', hint }, at };
  }
  const message = 'It is not clear whether this slash divides or begins a regular expression';
  const hint = 'Put the regular expression or the division in parentheses.';
  return { ok: false, error: { code: 'invalid_argument', message, hint }, at };
}

/** Null when the source closed the function it stands in. */
function bodyOf({ body: [statement, ...more] }: Program): FunctionBody | null {
  if (more.length > 0 || statement?.type !== 'ExpressionStatement') return null;
  const { expression } = statement;
  const inner = expression.type === 'ParenthesizedExpression' ? expression.expression : expression;
  return inner.type === 'FunctionExpression' ? inner.body : null;
}

function isModuleStatement({ type }: Statement): boolean {
  return type === 'ImportDeclaration' || type.startsWith('Export');
}
