import { ProtocolError } from '@modelcontextprotocol/server';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { JsonObject, UpstreamReply } from '../../engine/ports.ts';

export const RPC = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  sessionNotFound: -32001,
} as const;

type Failure = ErrorShape & { readonly rpc?: { code: number; message: string; data?: unknown } };

/** The server's own JSON-RPC error if it sent one; otherwise what prevented the request. */
export function rpcErrorOf({ rpc, code, message, hint }: Failure): ProtocolError {
  if (rpc) return ProtocolError.fromError(rpc.code, rpc.message, rpc.data);
  const data = { code, ...(hint !== undefined && { hint }) };
  return new ProtocolError(code === 'not_found' ? RPC.invalidParams : RPC.internal, message, data);
}

export function valueIn<T>(reply: UpstreamReply<T>): T {
  if (reply.ok) return reply.value;
  throw rpcErrorOf(reply.error);
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(RPC.invalidParams, message);
}

export function methodNotFound(method: string): ProtocolError {
  return new ProtocolError(RPC.methodNotFound, `Method not found: ${method}`);
}

/** A JSON-RPC error as an HTTP response, outside of any session. */
export function rpcResponse(status: number, error: JsonObject, id: unknown = null): Response {
  return Response.json({ jsonrpc: '2.0', error, id }, { status });
}

/** A thrown error as the response to the request in `body`. */
export function thrownResponse(thrown: unknown, body: unknown): Response {
  return rpcResponse(200, rpcShape(thrown), (body as { id?: unknown } | null)?.id ?? null);
}

/** A thrown error as JSON-RPC has it. */
export function rpcShape(thrown: unknown): JsonObject {
  const { code, message, data } = thrown as { code?: unknown; message?: string; data?: unknown };
  const known = Number.isSafeInteger(code) ? (code as number) : RPC.internal;
  return { code: known, message: message ?? String(thrown), ...(data !== undefined && { data }) };
}
