import type { ServerEvent } from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { JsonObject } from '../../../engine/ports.ts';
/** A client that can be notified, on a connection or during one of its requests. */
export interface ClientChannel {
  readonly clientId: string;
  readonly who: Principal;
  /** For a modern request; null if it wants no log messages. */
  readonly logLevel: string | null;
  tell(method: string, params: JsonObject): void;
}

/** An endpoint over HTTP, in both protocol eras. */
export interface ServedEndpoint {
  fetch(request: Request, who: Principal): Promise<Response>;
  /** Clients of the 2025-11-25 era, each with its own connection. */
  sessions(): Iterable<ClientChannel>;
  /** Open requests of the 2026-07-28 era. */
  requests(): Iterable<ClientChannel>;
  /** To subscribed clients of the 2026-07-28 era: those of one user, or all if null. */
  publish(event: ServerEvent, user: string | null): void;
  close(): Promise<void>;
}

/** The same response; calls `onEnd` once when its stream ends, from either side. */
export function whenEnded(response: Response, onEnd: () => void): Response {
  const { body } = response;
  if (!body) {
    onEnd();
    return response;
  }
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        controller.error(error);
      }
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(watched, response);
}
