import type { FetchLike } from '@modelcontextprotocol/client';

const DEFAULTS = {
  /** Bytes of one message, or of an answer that is no stream of them. */
  messageBytes: 32 * 1024 * 1024,
};
const NEWLINE = 10;
const RETURN = 13;

/** A fetch whose answers cannot fill the memory: a message without an end is cut off. */
export function boundedFetch(plain: FetchLike, limit = DEFAULTS.messageBytes): FetchLike {
  return async (url, init) => {
    const response = await plain(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counted(limit, isStream)), { status, statusText, headers });
  };
}

/** In a stream of events an empty line ends a message, and the count begins again. */
function counted(limit: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
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
      if (size > limit) controller.error(new RangeError(`a message is larger than ${limit} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
