import { signal } from '@preact/signals';
import { type Query, withQuery } from '../shared/routes.ts';

/** Storage key of this browser's login. Only pages of the same origin, including the port, can read it. */
const PLACE = 'pml-session';

let session = read();

/** False once the gateway has refused this browser. */
export const isSignedIn = signal(true);

/** An error from the gateway, or `unreachable` if it did not respond. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly hint: string | undefined;
  readonly status: number;

  constructor(status: number, code: string, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }

  static from(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown;
    return new ApiError(0, 'internal', thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** `T` is the response's type, from `shared/api-types.ts`. */
export function getJson<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return ask<T>(withQuery(`/api${path}`, query), { ...(signal && { signal }) });
}

export function postJson<T>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> {
  return ask<T>(`/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
}

/** For addresses outside `/api`. */
export async function ask<T>(address: string, request: RequestInit): Promise<T> {
  const reply = await askRaw(address, request);
  const body: unknown = await reply.json().catch(() => null);
  if (reply.ok) return body as T;
  const { error } = (body ?? {}) as { error?: { code: string; message: string; hint?: string } };
  const {
    code = 'internal',
    message = `The gateway responded with HTTP ${reply.status}`,
    hint,
  } = error ?? {};
  throw new ApiError(reply.status, code, message, hint);
}

/** The raw response, for streams and files. */
export async function askRaw(address: string, request: RequestInit = {}): Promise<Response> {
  let reply: Response;
  try {
    reply = await fetch(address, { ...request, headers: { ...request.headers, ...credentials() } });
  } catch (error) {
    if ((error as Error).name === 'AbortError')
      throw new ApiError(0, 'cancelled', 'The request was cancelled');
    throw new ApiError(0, 'unreachable', 'The gateway is not responding', 'Is "pml serve" running?');
  }
  if (reply.status === 401) isSignedIn.value = false;
  return reply;
}

/** The header that identifies this browser; empty if it is not logged in. */
function credentials(): Record<string, string> {
  return session === null ? {} : { authorization: `Bearer ${session}` };
}

/** Logs in with the code of a link or with a key; returns the error message, or null. */
export async function logIn(
  given: { readonly code: string } | { readonly key: string },
): Promise<string | null> {
  const reply = await fetch('/login', { method: 'POST', body: new URLSearchParams(given) });
  const body = await reply.json().catch(() => null);
  if (!reply.ok) return String(body?.error?.message ?? 'The request failed');
  session = String(body.session);
  try {
    localStorage.setItem(PLACE, session);
  } catch {
    // Without storage the login lasts until the page is left.
  }
  return null;
}

function read(): string | null {
  try {
    return localStorage.getItem(PLACE);
  } catch {
    return null;
  }
}
