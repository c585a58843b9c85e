import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type FetchLike,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';

const DEFAULTS = {
  /** Bytes of one message, or of a response that is not an event stream. */
  messageBytes: 32 * 1024 * 1024,
};

const NEWLINE = 10;

const RETURN = 13;

interface StreamWatcher {
  /** The response stream has ended. */
  readonly ended: () => void;
  /** We cut the stream off, for this reason. */
  readonly cut: (reason: Error) => void;
}

const watchers = new AsyncLocalStorage<StreamWatcher>();

/** The watcher of the request being sent, if any. */
function streamWatcher(): StreamWatcher | undefined {
  return watchers.getStore();
}

/**
 * Tells the sender of a request when its response stream ends. Otherwise a request to a server that dies
 * during the call would wait for its timeout.
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
 * Runs one request. Its signal aborts with `signal`, or when the stream ends without a response; then `ended`
 * is set, and `cut` has the reason if it was us who ended the stream.
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
  // The stream of an answered request ends too; by the next turn of the loop its response has been delivered.
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
