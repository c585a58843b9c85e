import type { JSONRPCMessage, ServerEvent } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../../engine/gateway.ts';
import type { JsonObject, UpstreamClient } from '../../engine/ports.ts';

/** An endpoint's self-description for clients. */
export interface ServerInfo {
  readonly info: JsonObject & { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
}

/** One request of a client, the same in both protocol eras. */
export interface ClientRequest {
  readonly method: string;
  /** As sent, without parts that only matter on this connection: `_meta` and the fields in `retry`. */
  readonly params: JsonObject;
  /** The rest of `_meta`, to pass on to the server. */
  readonly meta: JsonObject;
  /** `inputResponses` and `requestState`, with which a modern client repeats a request; unchanged. */
  readonly retry: JsonObject;
  readonly modern: boolean;
  /** Modern clients set a log level per request; others set it once, with `logging/setLevel`. */
  readonly logLevel: string | null;
  readonly caller: RequestCaller;
}

export interface RequestCaller extends Caller {
  readonly client: UpstreamClient;
  readonly signal: AbortSignal;
  readonly who: Principal;
}

/** An MCP server as clients see it, independent of the transport. Errors are thrown in their wire form. */
export interface Endpoint {
  /** As this client may know it, in its era. */
  serverInfo(who: Principal, modern: boolean): Promise<ServerInfo>;
  handle(request: ClientRequest): Promise<JsonObject>;
  /** A notification from a client. */
  hear(method: string, params: JsonObject, who: Principal): void;
  /** Subscribes a modern client to resources; returns those that can be watched. */
  watch(client: UpstreamClient, uris: readonly string[], who: Principal): Promise<readonly string[]>;
  /** The input schema of a tool whose arguments clients mirror in HTTP headers; null for other tools. */
  mirroredSchema(tool: string, who: Principal): Promise<JsonObject | null>;
  /** Forgets a client that is gone. */
  forget(clientId: string): void;
}

/** Who makes a call from within this process. */
export interface DirectCaller {
  /** Id of an open session. */
  readonly session: string;
  readonly who: Principal;
  /** Whom the caller speaks for. */
  readonly client: string;
  /** Gets what the call says before its answer. */
  say(message: JSONRPCMessage): void;
}

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
  /**
   * Makes a call of a client in this process without a request over HTTP. Null where it has to be one; the answer is null
   * where the session ends first.
   */
  call(message: unknown, from: DirectCaller): Promise<JSONRPCMessage | null> | null;
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
