import type { FetchLike } from '@modelcontextprotocol/client';
import { streamWatcher } from './watched-http-transport.ts';

const DEFAULTS = {
  /** Bytes of one message, or of an answer that is not a stream of them. */
  messageBytes: 32 * 1024 * 1024,
};
const NEWLINE = 10;
const RETURN = 13;

/** What a server sent was cut off. */
export class MessageTooLarge extends Error {
  override readonly name = 'MessageTooLarge';

  constructor(limit: number) {
    super(`a message is larger than ${limit} bytes`);
  }
}

/** A fetch whose answers cannot fill the memory: a message without an end is cut off. */
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

/** In a stream of events an empty line ends a message, and the count begins again. */
function counted(
  limit: number,
  isStream: boolean,
  onCut: ((reason: Error) => void) | undefined,
): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  /** The last chunk ended with a line. */
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
