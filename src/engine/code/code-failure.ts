import type { SourcePosition } from '../../core/structure/parse/source-position.ts';
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
  return { error: { code: CODES[failure.kind], message, ...own }, errorType: typeOf(failure) };
}

/** The file of the program itself. */
export const PROGRAM_NAME = 'program.ts';

function placeOf({ position }: Extract<GuestFailure, { kind: 'thrown' }>, locate: Locate) {
  if (!position) return null;
  const at = locate(position.file, position.line, position.column);
  return at && { ...at, file: position.file === PROGRAM_NAME ? null : position.file };
}

/** A failed capability tells its own place in its script. */
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
