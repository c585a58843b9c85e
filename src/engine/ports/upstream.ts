import type { ErrorShape } from '../../core/vocabulary/pml-error.ts';
import type { ErrorType } from '../../core/vocabulary/trace-event.ts';
import type { ServerSettings } from './settings.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The MCP servers behind the gateway. Nothing starts until it is needed; what upstream servers do
 * wrong comes back as data. Names, arguments and results pass untouched, unknown fields included.
 */
export interface Upstream {
  /** In the order of the settings. */
  servers(): readonly UpstreamServer[];
  /** Starts the server unless it runs, and answers who it says it is. */
  start(server: string, options?: UpstreamOptions): Promise<UpstreamReply<UpstreamIdentity>>;
  /** All pages of `tools/list`; list again after `ready` and after `notifications/tools/list_changed`. */
  catalogue(server: string, options?: UpstreamOptions): Promise<UpstreamReply<readonly UpstreamTool[]>>;
  callTool(
    server: string,
    tool: string,
    args: JsonObject,
    options?: UpstreamOptions,
  ): Promise<UpstreamReply<ToolResult>>;
  /**
   * Any other request. `resources/subscribe`, `resources/unsubscribe`, `logging/setLevel` and `ping`
   * work in both protocol eras; the first three are kept per client and survive a reconnect.
   */
  request(
    server: string,
    method: string,
    params: JsonObject,
    options?: UpstreamOptions,
  ): Promise<UpstreamReply<JsonObject>>;
  /** One-way, to a running server, where users have servers of their own to this user's; false when it does not run. */
  notify(server: string, method: string, params: JsonObject, user: string): Promise<boolean>;
  /** Answers how to stop listening. */
  subscribe(listener: (event: UpstreamEvent) => void): () => void;
  /** The client is gone: its subscriptions and log level no longer count. */
  forgetClient(clientId: string): Promise<void>;
  /** Stops it, forgets its failures and starts it again. */
  restart(server: string): Promise<UpstreamReply<UpstreamIdentity>>;
  /** Takes over new settings; a server whose way of starting did not change keeps running. */
  reload(servers: readonly ServerSettings[]): Promise<UpstreamChanges>;
  /** What the server last wrote to stderr, oldest first. */
  logs(server: string): readonly string[];
  /** Begins an OAuth login, for one user if named; `redirectUrl` is where the browser comes back to. */
  login(server: string, redirectUrl: string, user?: string): Promise<UpstreamReply<UpstreamLogin>>;
  /** Keeps what a user reaches the server with, or forgets it and any login of theirs. */
  keep(server: string, user: string, credentials: UserCredentials | null): Promise<UpstreamReply<null>>;
  /** Stops every server with all the processes it started. */
  close(): Promise<void>;
}

export type UpstreamState =
  /** Not needed so far. */
  | 'idle'
  | 'starting'
  | 'ready'
  /** Lost or failed; tried again after a while. */
  | 'backoff'
  /** The last start failed and nothing is planned; the next call tries again. */
  | 'failed'
  | 'disabled';

export interface UpstreamServer {
  readonly name: string;
  readonly transport: ServerSettings['transport'];
  readonly state: UpstreamState;
  readonly since: Date;
  readonly error: ErrorShape | null;
  /** Of the server's process; null when it has none. */
  readonly pid: number | null;
  /** Null until its catalogue was read. */
  readonly toolCount: number | null;
  readonly protocolVersion: string | null;
  readonly callsInFlight: number;
  readonly callsWaiting: number;
  /** Lines on stdout that were no messages. */
  readonly garbageLines: number;
}

/** What a server says of itself; hints, as everything it says. */
export interface UpstreamIdentity {
  /** `name`, `version`, `title`, … as sent; null when it keeps silent. */
  readonly info: JsonObject | null;
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
  readonly protocolVersion: string;
}

/** A tool as the server defines it, with whatever fields it has. */
export type UpstreamTool = JsonObject & { readonly name: string };

/** `isError` says that the tool ran and failed: that is a result, not a failure. */
export interface ToolResult {
  readonly content?: readonly JsonObject[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
  readonly [field: string]: unknown;
}

export interface UpstreamOptions {
  /** Aborting cancels the request on the server too. */
  readonly signal?: AbortSignal;
  /** Longest silence; progress starts it over, and it does not run while a client is being asked. */
  readonly timeoutMs?: number;
  /** The time is all there is: progress does not start it over. */
  readonly isFirm?: boolean;
  readonly onProgress?: (progress: UpstreamProgress) => void;
  /** Who the request is made for; without one nobody can be asked. */
  readonly client?: UpstreamClient;
  /** Whose credentials are used where each user has their own; absent: those of the configuration. */
  readonly user?: string;
  /** Whose process is used where each session has its own; absent: the user's. */
  readonly session?: string;
  /** Somebody waits for this server: one that failed a moment ago is started again, not only after its backoff. */
  readonly isWanted?: boolean;
  /** More fields for the request's `_meta`. */
  readonly meta?: JsonObject;
  /**
   * Hands an `input_required` result back as it is instead of asking `client`. The caller then
   * repeats the request with `inputResponses` and `requestState` among `extraParams`.
   */
  readonly passInputRequired?: boolean;
  /** More fields beside `name` and `arguments` of a tool call. */
  readonly extraParams?: JsonObject;
  /** Calls the tool as a task and waits for its result, unless `extraParams` ask for a task: then that is returned. */
  readonly asTask?: boolean;
  /** Returns a task of a 2026-07-28 server as it is, to a client that knows tasks, instead of waiting for its result. */
  readonly passTask?: boolean;
}

export interface UpstreamProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** The client a request is made for: what its server asks meanwhile is asked there and nowhere else. */
export interface UpstreamClient {
  readonly id: string;
  /** As the client declared them. */
  readonly capabilities: JsonObject;
  readonly info?: JsonObject;
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`; a rejection is sent to the server. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}

export type UpstreamReply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: UpstreamFailure };

export interface UpstreamFailure extends ErrorShape {
  readonly errorType: ErrorType;
  /** The server's own JSON-RPC error, where it sent one. */
  readonly rpc?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export type UpstreamEvent =
  | {
      readonly type: 'state';
      readonly server: string;
      readonly state: UpstreamState;
      readonly error: ErrorShape | null;
    }
  | ({
      readonly type: 'notification';
      readonly server: string;
      readonly method: string;
      readonly params: JsonObject;
    } & Audience);

/** Whom a notification is for. What belongs to a request that cannot be told is told to nobody. */
export interface Audience {
  /** The client whose request it belongs to; null when there is none. */
  readonly clientId: string | null;
  /** The user whose request or process it belongs to; null with no client: it concerns everybody. */
  readonly user: string | null;
}

export interface UpstreamChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Stopped, and started again when needed. */
  readonly restarted: readonly string[];
  /** New limits, still running. */
  readonly adjusted: readonly string[];
}

/** For a program, or for an address; on top of what the configuration says. */
export interface UserCredentials {
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type UpstreamLogin =
  | { readonly done: true }
  | {
      readonly done: false;
      readonly authorizationUrl: string;
      /** With the full URL the browser came back to. */
      finish(callbackUrl: string): Promise<UpstreamReply<null>>;
    };

/** What is kept of a login, by server name; secrets, so kept apart from everything else. */
export interface TokenStore {
  get(server: string): Promise<JsonObject | null>;
  set(server: string, credentials: JsonObject): Promise<void>;
  delete(server: string): Promise<void>;
}
