import type { JsonObject } from '../../../engine/ports.ts';
import { RPC } from '../rpc-error.ts';

/** A JSON-RPC error as an HTTP answer, outside of any session. */
export function rpcResponse(status: number, error: JsonObject, id: unknown = null): Response {
  return Response.json({ jsonrpc: '2.0', error, id }, { status });
}

/** What was thrown, as the answer to the request in `body`. */
export function thrownResponse(thrown: unknown, body: unknown): Response {
  const { code, message, data } = thrown as { code?: unknown; message?: string; data?: unknown };
  const known = Number.isSafeInteger(code) ? (code as number) : RPC.internal;
  const error = { code: known, message: message ?? String(thrown), ...(data !== undefined && { data }) };
  return rpcResponse(200, error, (body as { id?: unknown } | null)?.id ?? null);
}
