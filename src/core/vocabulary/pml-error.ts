/**
 * Every error a person or a program can get. Programs match on the code; the message says what failed
 * and which object; the hint says what to do next.
 */
export const ERROR_CODES = [
  'config_invalid',
  'config_not_found',
  'config_untrusted',
  'file_changed',
  'usage',
  'data_dir_held',
  'data_dir_unreadable',
  'data_dir_damaged',
  'data_dir_newer',
  'store_unavailable',
  'store_conflict',
  'store_refused',
  'embedding_unavailable',
  'invalid_id',
  'invalid_argument',
  'not_found',
  'not_available',
  'tool_failed',
  'code_failed',
  'code_limit',
  'capability_failed',
  'replay_differs',
  'unauthorized',
  'forbidden',
  'too_large',
  'rate_limited',
  'stopping',
  'port_in_use',
  'holder_gone',
  'holder_unreachable',
  'upstream_unavailable',
  'upstream_timeout',
  'upstream_error',
  'cancelled',
  'internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorDetails {
  readonly hint?: string;
  readonly cause?: unknown;
}

/** What goes over the wire: `{error: {code, message, hint}}`. */
export interface ErrorShape {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

export class PmlError extends Error {
  override readonly name = 'PmlError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
  }

  /** An unexpected throwable becomes `internal`, with the original as its cause. */
  static from(thrown: unknown): PmlError {
    if (thrown instanceof PmlError) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new PmlError('internal', message, { cause: thrown });
  }

  toShape(): ErrorShape {
    return { code: this.code, message: this.message, ...(this.hint !== undefined && { hint: this.hint }) };
  }
}

/** Failure of user code or of an upstream server is data: a run returns it and does not throw. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ErrorShape };
