import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type FetchLike,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

const DEFAULTS = {
  /** Bytes of one message, or of an answer that is not a stream of them. */
  messageBytes: 32 * 1024 * 1024,
};

const NEWLINE = 10;

const RETURN = 13;

interface StreamWatcher {
  /** The stream of the answer is over. */
  readonly ended: () => void;
  /** We ended it ourselves, and why. */
  readonly cut: (reason: Error) => void;
}

const watchers = new AsyncLocalStorage<StreamWatcher>();

/** Who waits for the answer to the request that is being sent. */
function streamWatcher(): StreamWatcher | undefined {
  return watchers.getStore();
}

/**
 * Tells the sender of a request when the stream of its answer ended. Otherwise a server that dies
 * mid-call leaves the request waiting until its time is up.
 */
export class WatchedHttpTransport extends StreamableHTTPClientTransport {
  override send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options?: Parameters<StreamableHTTPClientTransport['send']>[1],
  ): Promise<void> {
    const watcher = streamWatcher();
    return super.send(message, watcher ? { ...options, onRequestStreamEnd: watcher.ended } : options);
  }
}

/**
 * Runs one request; its signal aborts with `signal`, or when the stream ended without an answer.
 * `ended` says that the latter happened, and `cut` why if the server did not end it.
 */
export async function withStreamWatch<T>(
  signal: AbortSignal,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly value: T } | { readonly ended: true; readonly cut: Error | null }> {
  const controller = new AbortController();
  const forward = () => controller.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  if (signal.aborted) forward();
  let ended = false;
  let reason: Error | null = null;
  // The stream of an answered request ends too: by the next turn of the loop its answer has been taken.
  const onEnd = () => {
    setImmediate(() => {
      ended = true;
      controller.abort(new Error('the stream ended'));
    });
  };
  const cut = (why: Error) => {
    reason = why;
  };
  try {
    return { value: await watchers.run({ ended: onEnd, cut }, () => request(controller.signal)) };
  } catch (error) {
    if (ended && !signal.aborted) return { ended: true, cut: reason };
    throw error;
  } finally {
    signal.removeEventListener('abort', forward);
  }
}

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
