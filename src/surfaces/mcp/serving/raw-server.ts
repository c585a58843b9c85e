import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  McpServer,
  PROTOCOL_VERSION_META_KEY,
  type ProgressToken,
  Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import { parentSpanOf, type TraceContext } from '../../../core/vocabulary/trace-context.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { ServerInfo } from '../endpoint.ts';

const DEFAULTS = {
  /** Characters of a `tracestate`. */
  stateLength: 512,
};

/** Lets everything pass as it is. */
export const UNTOUCHED: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'pml', validate: (value) => ({ value: value as JsonObject }) },
};

export interface RawHandlers {
  onRequest(method: string, params: JsonObject | undefined, context: ServerContext): Promise<JsonObject>;
  onNotification(method: string, params: JsonObject): void;
}

/**
 * An SDK server that leaves every request except the handshake to us. Its own handlers would validate
 * messages and drop unknown fields.
 */
export function rawServer(serverInfo: ServerInfo, handlers: RawHandlers): Server {
  const { info, capabilities } = serverInfo;
  return handledBy(handlers, new Server(info, { capabilities, ...instructionsOf(serverInfo) }));
}

/** The same, but the SDK compares a tool's arguments with the HTTP headers that mirror them. */
export class HeaderCheckingServer extends McpServer {
  readonly #schema: JsonObject;

  constructor(serverInfo: ServerInfo, handlers: RawHandlers, schema: JsonObject) {
    // Capabilities given here would install the SDK's own handlers.
    super(serverInfo.info, instructionsOf(serverInfo));
    this.#schema = schema;
    this.server.registerCapabilities(serverInfo.capabilities);
    handledBy(handlers, this.server);
  }

  override toolInputSchemaJson(): Record<string, unknown> {
    return this.#schema;
  }
}

function handledBy(handlers: RawHandlers, server: Server): Server {
  server.removeRequestHandler('logging/setLevel');
  server.fallbackRequestHandler = ({ method, params }, context) =>
    handlers.onRequest(method, params, context);
  // The SDK keeps these from the fallback in the newer era, where they belong to an extension.
  for (const method of ['tasks/get', 'tasks/cancel'])
    server.setRequestHandler(method, { params: UNTOUCHED }, (params, context) =>
      handlers.onRequest(method, { ...params, _meta: context.mcpReq._meta }, context),
    );
  server.fallbackNotificationHandler = async ({ method, params }) =>
    handlers.onNotification(method, params ?? {});
  return server;
}

function instructionsOf({ instructions }: ServerInfo) {
  return instructions === null ? {} : { instructions };
}

const CLIENT_NAME = /^[\w-]{8,64}$/;
const TRACE_STATE = /^[\x20-\x7e]+$/;

export interface RequestParts {
  readonly params: JsonObject;
  readonly meta: JsonObject;
  readonly retry: JsonObject;
  readonly progressToken: ProgressToken | undefined;
  readonly logLevel: string | null;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | undefined;
  /** Null where the client gave none, or an invalid one. */
  readonly trace: TraceContext | null;
}

/** Separates a client's parameters from fields that concern the connection. */
export function readParams(sent: JsonObject = {}): RequestParts {
  const { _meta, inputResponses, requestState, ...params } = sent;
  const {
    progressToken,
    [PROTOCOL_VERSION_META_KEY]: _version,
    [CLIENT_INFO_META_KEY]: clientInfo,
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    ...meta
  } = (_meta ?? {}) as JsonObject;
  return {
    params,
    // A log level stays: a server of the same era reads it there.
    meta,
    retry: {
      ...(inputResponses !== undefined && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    },
    progressToken: progressToken as ProgressToken | undefined,
    logLevel: (meta[LOG_LEVEL_META_KEY] as string | undefined) ?? null,
    capabilities: (capabilities ?? {}) as JsonObject,
    clientInfo: clientInfo as JsonObject | undefined,
    trace: traceContextIn(meta),
  };
}

function traceContextIn({ traceparent, tracestate }: JsonObject): TraceContext | null {
  if (typeof traceparent !== 'string' || parentSpanOf(traceparent) === null) return null;
  const isState = typeof tracestate === 'string' && tracestate.length <= DEFAULTS.stateLength;
  return { traceparent, ...(isState && TRACE_STATE.test(tracestate) && { tracestate }) };
}

/**
 * The client that a bridge speaks for, or null. Only callers with the data folder's token may name one: with
 * a key, a caller could otherwise write into other sessions.
 */
export function namedClient(name: string | null | undefined, who: Principal): string | null {
  if (who.keyId !== null || who.clientId !== undefined) return null;
  return CLIENT_NAME.test(name ?? '') ? (name ?? null) : null;
}

/**
 * Why a client cannot be asked this; null if it can. A bare `elicitation: {}` means forms: clients declared
 * it before modes existed.
 */
export function cannotAsk(capabilities: JsonObject, method: string, params: JsonObject): string | null {
  const has = (name: string, member?: string) => {
    const declared = capabilities[name] as JsonObject | undefined;
    return declared !== undefined && (member === undefined || declared[member] !== undefined);
  };
  switch (method) {
    case 'elicitation/create': {
      if (params.mode === 'url') return has('elicitation', 'url') ? null : lacks('elicitation by URL');
      const forms = has('elicitation', 'form') || (has('elicitation') && !has('elicitation', 'url'));
      return forms ? null : lacks('elicitation by form');
    }
    case 'sampling/createMessage': {
      if (!has('sampling')) return lacks('sampling');
      const wantsTools = params.tools !== undefined || params.toolChoice !== undefined;
      return wantsTools && !has('sampling', 'tools') ? lacks('sampling with tools') : null;
    }
    case 'roots/list':
      return has('roots') ? null : lacks('roots');
    default:
      return `Clients cannot answer ${method}`;
  }
}

function lacks(what: string): string {
  return `The client does not support ${what}`;
}
