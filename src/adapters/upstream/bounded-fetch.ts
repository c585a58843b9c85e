import type { FetchLike } from '@modelcontextprotocol/client';
import { streamWatcher } from './http-transport.ts';

const DEFAULTS = {
  /** Bytes of one message, or of a response that is not an event stream. */
  messageBytes: 32 * 1024 * 1024,
};

const NEWLINE = 10;

const RETURN = 13;

/** A server's message was cut off. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';

  constructor(limit: number) {
    super(`a message is larger than ${limit} bytes`);
  }
}

/** A fetch with bounded responses: an endless message is cut off. */
export function boundedFetch(plain: FetchLike, limit = DEFAULTS.messageBytes): FetchLike {
  return async (url, init) => {
    const watcher = streamWatcher();
    const response = await plain(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const { status, statusText, headers } = response;
    const bounded = response.body.pipeThrough(counted(limit, isStream, watcher?.cut));
    return new Response(bounded, { status, statusText, headers });
  };
}

/** For requests to an authorization server: a POST carries secrets, so its redirects are refused. */
export const oauthFetch: FetchLike = boundedFetch((url, init) =>
  fetch(url, init?.method === 'POST' ? { ...init, redirect: 'error' } : init),
);

/** In an event stream an empty line ends a message, and the count restarts. */
function counted(
  limit: number,
  isStream: boolean,
  onCut: ((reason: Error) => void) | undefined,
): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  /** The last chunk ended at a line end. */
  let isLineEnd = false;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (isStream) {
        for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
          const before = chunk[at - 1] === RETURN ? at - 2 : at - 1;
          if (before < 0 ? isLineEnd : chunk[before] === NEWLINE) size = chunk.length - at - 1;
        }
        isLineEnd = chunk.at(-1) === NEWLINE;
      }
      if (size <= limit) return controller.enqueue(chunk);
      const reason = new MessageTooLarge(limit);
      onCut?.(reason);
      controller.error(reason);
    },
  });
}
