import type { SourcePosition } from '../../core/structure/parse/parse-program.ts';
import { classifyError } from '../../core/tracing/recorder.ts';
import type { ErrorCode } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { CodeError, GuestFailure } from '../ports.ts';

export interface CodeFailure {
  readonly error: CodeError;
  /** Null: that of the call which failed last. */
  readonly errorType: ErrorType | null;
}

const SCRIPT_PLACE = /\((\w+\.ts):(\d+):(\d+)\)/g;

type Locate = (file: string, line: number, column: number) => SourcePosition | null;

const CODES: Readonly<Record<GuestFailure['kind'], ErrorCode>> = {
  thrown: 'code_failed',
  stuck: 'code_failed',
  no_data: 'code_failed',
  limit: 'code_limit',
  cancelled: 'cancelled',
  crashed: 'code_failed',
};

/** A guest's failure in the terms of the source its author wrote. */
export function codeFailure(failure: GuestFailure, locate: Locate): CodeFailure {
  const at = failure.kind === 'thrown' ? placeOf(failure, locate) : null;
  const said = inSource(failure.kind === 'thrown' ? thrown(failure) : failure.message, locate);
  const message = at
    ? `${said} (${at.file === null ? '' : `${at.file} `}line ${at.line}, column ${at.column})`
    : said;
  const own = at && at.file === null ? { line: at.line, column: at.column } : {};
  const hint = failure.kind === 'thrown' ? hintFor(failure) : undefined;
  const error = { code: CODES[failure.kind], message, ...(hint !== undefined && { hint }), ...own };
  return { error, errorType: typeOf(failure) };
}

const NO_NETWORK = 'Programs have no network';
const NO_NODE = 'Programs have no Node.js modules, files or processes';
const CALL_A_TOOL = 'Find a tool with pml_search_tools and call it: await mcp.server.tool(args).';

/** What models use out of habit, by name. */
const ABSENT: ReadonlyMap<string, string> = new Map([
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'axios'].map((name) => [name, NO_NETWORK] as const),
  ...['require', 'process', 'module', 'Buffer', 'fs', 'path'].map((name) => [name, NO_NODE] as const),
  ...['setTimeout', 'setInterval'].map((name) => [name, 'Programs have no timers'] as const),
]);

/** What to use instead of something that programs do not have here. */
function hintFor({ name, message }: Extract<GuestFailure, { kind: 'thrown' }>): string | undefined {
  const unknown = name === 'ReferenceError' ? /^(\w{1,64}) is not defined$/.exec(message)?.[1] : undefined;
  if (unknown !== undefined) {
    const why = ABSENT.get(unknown);
    if (why !== undefined) return `${why}. ${CALL_A_TOOL}`;
    return `A program sees mcp, capabilities, args, deps and console. A server is called through mcp: await mcp.${unknown}.tool(args).`;
  }
  const isCallOfMcp = name === 'TypeError' && /^mcp\.\w{1,64} is not a function$/.test(message);
  return isCallOfMcp ? 'A tool is called by its server and name: await mcp.server.tool(args).' : undefined;
}

/** The file of the program itself. */
export const PROGRAM_NAME = 'program.ts';

function placeOf({ position }: Extract<GuestFailure, { kind: 'thrown' }>, locate: Locate) {
  if (!position) return null;
  const at = locate(position.file, position.line, position.column);
  return at && { ...at, file: position.file === PROGRAM_NAME ? null : position.file };
}

/** A failed capability reports the position in its own script. */
function inSource(message: string, locate: Locate): string {
  return message.replaceAll(SCRIPT_PLACE, (place, file: string, line: string, column: string) => {
    const at = locate(file, Number(line), Number(column));
    return at ? `(${file} line ${at.line}, column ${at.column})` : place;
  });
}

function thrown({ name, message }: Extract<GuestFailure, { kind: 'thrown' }>): string {
  return message === '' ? name : `${name}: ${message}`;
}

/** Errors of calls that the program did not catch. */
const OF_CALLS = new Set(['ToolError', 'CapabilityError']);

function typeOf(failure: GuestFailure): ErrorType | null {
  switch (failure.kind) {
    case 'limit':
      return failure.limit === 'wall' || failure.limit === 'cpu' ? 'TIMEOUT' : 'VALIDATION';
    case 'stuck':
      return 'TIMEOUT';
    case 'no_data':
      return 'VALIDATION';
    case 'thrown':
      return OF_CALLS.has(failure.name) ? null : classifyError(failure.message);
    default:
      return 'UNKNOWN';
  }
}
