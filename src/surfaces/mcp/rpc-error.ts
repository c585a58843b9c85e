import { ProtocolError } from '@modelcontextprotocol/server';
import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { UpstreamReply } from '../../engine/ports.ts';

export const RPC = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  sessionNotFound: -32001,
} as const;

type Failure = ErrorShape & { readonly rpc?: { code: number; message: string; data?: unknown } };

/** The server's own JSON-RPC error where it sent one; else what went wrong on the way to it. */
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
