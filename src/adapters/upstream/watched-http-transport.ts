import { AsyncLocalStorage } from 'node:async_hooks';
import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

interface StreamWatcher {
  /** The stream of the answer is over. */
  readonly ended: () => void;
  /** We ended it ourselves, and why. */
  readonly cut: (reason: Error) => void;
}

const watchers = new AsyncLocalStorage<StreamWatcher>();

/** Who waits for the answer to the request that is being sent. */
export function streamWatcher(): StreamWatcher | undefined {
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
