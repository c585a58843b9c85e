import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { expectantRequest } from './expectant-request.ts';

/** Statuses that come without a body. */
const EMPTY = new Set([101, 204, 205, 304]);

/**
 * `fetch` to another process on this machine. It tells what cannot have arrived (`UnseenError`) from
 * what may have, and waits for an answer as long as it takes: a call may be slow.
 */
export function createLoopbackFetch(): typeof fetch {
  const agent = new Agent({ keepAlive: true });
  return async (input, init = {}) => {
    const { hostname, port, pathname, search } = new URL(String(input));
    const { method = 'GET', body, signal } = init;
    const options = {
      agent,
      hostname,
      port,
      path: `${pathname}${search}`,
      method,
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(signal && { signal }),
    };
    const reply = await (typeof body === 'string'
      ? expectantRequest({ ...options, body: Buffer.from(body) })
      : bareRequest(options));
    const pairs = Object.entries(reply.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const status = reply.statusCode ?? 0;
    if (EMPTY.has(status)) reply.resume();
    const content = EMPTY.has(status)
      ? null
      : (Readable.toWeb(reply) as NodeStream<Uint8Array> as ReadableStream);
    return new Response(content, { status, headers: new Headers(pairs) });
  };
}

async function bareRequest(options: RequestOptions): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    request(options, resolve).on('error', reject).end();
  });
}
