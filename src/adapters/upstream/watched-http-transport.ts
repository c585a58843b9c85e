import { AsyncLocalStorage } from 'node:async_hooks';
import { type JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const onStreamEnd = new AsyncLocalStorage<() => void>();

/**
 * Tells the sender of a request when the stream of its answer ended. Otherwise a server that dies
 * mid-call leaves the request waiting until its time is up.
 */
export class WatchedHttpTransport extends StreamableHTTPClientTransport {
  override send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options?: Parameters<StreamableHTTPClientTransport['send']>[1],
  ): Promise<void> {
    const ended = onStreamEnd.getStore();
    return super.send(message, ended ? { ...options, onRequestStreamEnd: ended } : options);
  }
}

/**
 * Runs one request; its signal aborts with `signal`, or when the stream ended without an answer.
 * `ended` says that the latter happened.
 */
export async function withStreamWatch<T>(
  signal: AbortSignal,
  request: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly value: T } | { readonly ended: true }> {
  const controller = new AbortController();
  const forward = () => controller.abort(signal.reason);
  signal.addEventListener('abort', forward, { once: true });
  if (signal.aborted) forward();
  let ended = false;
  // The stream of an answered request ends too: by the next turn of the loop its answer has been taken.
  const onEnd = () => {
    setImmediate(() => {
      ended = true;
      controller.abort(new Error('the stream ended'));
    });
  };
  try {
    return { value: await onStreamEnd.run(onEnd, () => request(controller.signal)) };
  } catch (error) {
    if (ended && !signal.aborted) return { ended: true };
    throw error;
  } finally {
    signal.removeEventListener('abort', forward);
  }
}
