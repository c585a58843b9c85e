import { ProtocolError } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../engine/ports.ts';
import type { Call } from './ask-router.ts';

const METHOD_NOT_FOUND = -32601;
const CAPABILITY_OF: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

/** A question inside an `input_required` result. */
export interface InputRequest {
  readonly method: string;
  readonly params?: JsonObject;
}

/**
 * Puts a server's question to the client its request is made for; the requests it may belong to do
 * not run out of time meanwhile. Rejects with what the server is to be told.
 */
export async function askClient(
  calls: readonly Call[],
  method: string,
  params: JsonObject,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const client = calls[0]?.client;
  const capability = CAPABILITY_OF[method];
  if (!client || !capability || client.capabilities[capability] === undefined) {
    // Servers ask for roots at their start, when there is no request yet: there are none then.
    if (method === 'roots/list') return { roots: [] };
    const who = client ? `Client "${client.id}" does not support` : 'There is nobody to answer';
    throw new ProtocolError(METHOD_NOT_FOUND, `${who} ${method}`);
  }
  const release = calls.map((call) => call.deadline.hold());
  try {
    return await client.ask(method, params, signal);
  } finally {
    for (const free of release) free();
  }
}
