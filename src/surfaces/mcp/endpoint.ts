import type { Principal } from '../../core/vocabulary/principal.ts';
import type { Caller } from '../../engine/gateway.ts';
import type { JsonObject, UpstreamClient } from '../../engine/ports.ts';

/** What an endpoint tells clients about itself. */
export interface ServerInfo {
  readonly info: JsonObject & { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
}

/** One request of a client, the same in both protocol eras. */
export interface ClientRequest {
  readonly method: string;
  /** As sent, but for what means something on this connection only: `_meta` and the fields in `retry`. */
  readonly params: JsonObject;
  /** What is left of `_meta` for a server further up. */
  readonly meta: JsonObject;
  /** `inputResponses` and `requestState`, with which a modern client repeats a request; untouched. */
  readonly retry: JsonObject;
  readonly modern: boolean;
  /** Modern clients say per request which log messages they want; the others once, by `logging/setLevel`. */
  readonly logLevel: string | null;
  readonly caller: RequestCaller;
}

export interface RequestCaller extends Caller {
  readonly client: UpstreamClient;
  readonly signal: AbortSignal;
  readonly who: Principal;
}

/** An MCP server towards clients, apart from how they reach it. Errors are thrown as they go over the wire. */
export interface Endpoint {
  serverInfo(): Promise<ServerInfo>;
  handle(request: ClientRequest): Promise<JsonObject>;
  /** From a client, one-way. */
  hear(method: string, params: JsonObject, who: Principal): void;
  /** The resources a modern client wants to hear of; answers those it will. */
  watch(client: UpstreamClient, uris: readonly string[], who: Principal): Promise<readonly string[]>;
  /** The input schema of a tool whose arguments clients repeat in HTTP headers; null for any other. */
  mirroredSchema(tool: string): Promise<JsonObject | null>;
  /** The client is gone. */
  forget(clientId: string): void;
}
