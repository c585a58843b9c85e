import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { ServerSettings, UpstreamFailure } from '../../engine/ports.ts';
import { MessageTooLarge } from './bounded-fetch.ts';

/** The end of a hint about a server whose start failed. */
export const NEXT_CALL_TRIES = '; the next call tries again.';
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;
const NETWORK =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_HAS_EXPIRED|SELF_SIGNED_CERT_IN_CHAIN|fetch failed)\b/;

/** An `UpstreamFailure` as an exception, for code that throws; the port returns the failure it carries. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault';
  readonly failure: UpstreamFailure;

  constructor(failure: UpstreamFailure, cause?: unknown) {
    super(failure.message, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
}

/** Converts anything thrown by a request to `server`. */
export function failureOf(server: string, thrown: unknown): UpstreamFailure {
  const fault = faultIn(thrown);
  if (fault) return fault.failure;
  if (thrown instanceof ProtocolError) return rpcFailure(server, thrown);
  if (isUnauthorized(thrown)) return unauthorized(server);
  if (thrown instanceof SdkHttpError) return httpFailure(server, thrown);
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult) {
    return {
      code: 'upstream_error',
      errorType: 'VALIDATION',
      message: `Server "${server}" broke the protocol: ${firstLine(thrown.message)}`,
    };
  }
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.MethodNotSupportedByProtocolVersion) {
    return {
      code: 'upstream_error',
      errorType: 'NOT_FOUND',
      message: `Server "${server}": ${thrown.message}`,
    };
  }
  return unavailable(server, reasonOf(thrown));
}

export function unavailable(server: string, reason: string, hint?: string): UpstreamFailure {
  const checkNetwork = `Check the address in the configuration of "${server}", and whether this machine can reach it${NEXT_CALL_TRIES}`;
  return {
    code: 'upstream_unavailable',
    errorType: 'NETWORK',
    message: `Server "${server}" cannot be reached: ${reason}`,
    hint:
      hint ??
      (NETWORK.test(reason)
        ? checkNetwork
        : `\`pml servers logs ${server}\` shows what it wrote${NEXT_CALL_TRIES}`),
  };
}

export function unauthorized(server: string): UpstreamFailure {
  return {
    code: 'unauthorized',
    errorType: 'PERMISSION',
    message: `Server "${server}" requires a login`,
    hint: `Run \`pml servers login ${server}\`, or set its "headers" or "auth" in the configuration.`,
  };
}

export function loginFailed(server: string, reason: string): UpstreamFailure {
  return {
    code: 'unauthorized',
    errorType: 'PERMISSION',
    message: `The login to server "${server}" failed: ${reason}`,
    hint: `Try again with \`pml servers login ${server}\`.`,
  };
}

/**
 * Some JSON-RPC errors come with an HTTP status that the SDK treats as a failed exchange. A response to our
 * request carries its id; one from a proxy or about a lost session does not.
 */
export function rpcErrorIn(thrown: unknown): unknown {
  if (!(thrown instanceof SdkHttpError) || typeof thrown.data?.text !== 'string') return thrown;
  try {
    const { id, error } = JSON.parse(thrown.data.text);
    if (id === null || id === undefined || typeof error?.code !== 'number') return thrown;
    return ProtocolError.fromError(error.code, String(error.message), error.data);
  } catch {
    return thrown;
  }
}

export function disabled({ name, disabledReason }: ServerSettings): UpstreamFailure {
  return {
    code: 'forbidden',
    errorType: 'PERMISSION',
    message: disabledReason ?? `Server "${name}" is disabled`,
    ...(disabledReason === undefined && { hint: 'Remove "disabled" from its configuration.' }),
  };
}

/**
 * Whether the request can be sent again because the server has not run it: the server has dropped our session
 * (404), refuses connections, or the connection closed before anything was sent.
 */
export function isUnsent(thrown: unknown): boolean {
  if (thrown instanceof SdkHttpError) return thrown.status === 404;
  if (thrown instanceof SdkError) return thrown.code === SdkErrorCode.NotConnected;
  const error = innermost(thrown);
  if (!(error instanceof Error)) return false;
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' || error.message === 'Not connected';
}

export function isConnectionLoss(thrown: unknown): boolean {
  return thrown instanceof SdkError && thrown.code === SdkErrorCode.ConnectionClosed;
}

/** Whether the server sent more than the limit. */
export function isCutOff(thrown: unknown): boolean {
  return innermost(thrown) instanceof MessageTooLarge;
}

export function reasonOf(thrown: unknown): string {
  const error = innermost(thrown);
  return error instanceof Error ? firstLine(error.message || error.name) : String(error);
}

/** Our own fault inside an error that the SDK may have wrapped. */
function faultIn(thrown: unknown): UpstreamFault | null {
  if (thrown instanceof UpstreamFault) return thrown;
  return thrown instanceof Error && thrown.cause !== undefined ? faultIn(thrown.cause) : null;
}

/** A fetch error only says "fetch failed"; its innermost cause has the reason. */
function innermost(thrown: unknown): unknown {
  let error = thrown;
  while (error instanceof Error && error.cause instanceof Error) error = error.cause;
  return error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
}

function isUnauthorized(thrown: unknown): boolean {
  if (thrown instanceof UnauthorizedError) return true;
  return thrown instanceof SdkHttpError && thrown.status === 401;
}

function rpcFailure(server: string, error: ProtocolError): UpstreamFailure {
  const { code, message, data } = error;
  return {
    code: 'upstream_error',
    errorType: rpcErrorType(error),
    message: `Server "${server}" answered: ${message}`,
    rpc: { code, message, ...(data !== undefined && { data }) },
  };
}

/** Servers also send "invalid params" for an unknown tool, so the message decides. */
function rpcErrorType({ code, message, data }: ProtocolError): ErrorType {
  if (code === METHOD_NOT_FOUND || code === RESOURCE_NOT_FOUND) return 'NOT_FOUND';
  if (code !== INVALID_PARAMS) return 'UNKNOWN';
  const named = typeof data === 'object' && data !== null && 'uri' in data;
  return named || /not found|unknown (tool|prompt|resource)/i.test(message) ? 'NOT_FOUND' : 'VALIDATION';
}

function httpFailure(server: string, error: SdkHttpError): UpstreamFailure {
  const { status } = error;
  if (status === 403) {
    return {
      code: 'forbidden',
      errorType: 'PERMISSION',
      message: `Server "${server}" refused the request (HTTP 403)`,
      hint: `Check the permissions of the account; \`pml servers login ${server}\` requests new ones.`,
    };
  }
  const failure = unavailable(server, `HTTP ${status}${bodyOf(error)}`);
  return status === 408 || status === 504 ? { ...failure, errorType: 'TIMEOUT' } : failure;
}

function bodyOf(error: SdkHttpError): string {
  const text = error.data?.text;
  return typeof text === 'string' && text.trim() !== '' ? `, ${firstLine(text).slice(0, 200)}` : '';
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
