import { AsyncLocalStorage } from 'node:async_hooks';
import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

interface StreamWatcher {
  /** The response stream has ended. */
  readonly ended: () => void;
  /** We cut the stream off, for this reason. */
  readonly cut: (reason: Error) => void;
}

const watchers = new AsyncLocalStorage<StreamWatcher>();

/** The watcher of the request being sent, if any. */
export function streamWatcher(): StreamWatcher | undefined {
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
