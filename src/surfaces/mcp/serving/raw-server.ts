import { McpServer, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../engine/ports.ts';
import type { Face } from '../endpoint.ts';

export interface RawHandlers {
  onRequest(method: string, params: JsonObject | undefined, context: ServerContext): Promise<JsonObject>;
  onNotification(method: string, params: JsonObject): void;
}

/**
 * A server of the SDK that leaves every request but the handshake to us. Its own handlers would check
 * what passes, and drop the fields they do not know.
 */
export function rawServer(face: Face, handlers: RawHandlers): Server {
  const { info, capabilities } = face;
  return handledBy(handlers, new Server(info, { capabilities, ...instructionsOf(face) }));
}

/** The same, which has the SDK compare a tool's arguments with the HTTP headers that mirror them. */
export class HeaderCheckingServer extends McpServer {
  readonly #schema: JsonObject;

  constructor(face: Face, handlers: RawHandlers, schema: JsonObject) {
    // Capabilities named here would bring handlers of the SDK along.
    super(face.info, instructionsOf(face));
    this.#schema = schema;
    this.server.registerCapabilities(face.capabilities);
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
  server.fallbackNotificationHandler = async ({ method, params }) =>
    handlers.onNotification(method, params ?? {});
  return server;
}

function instructionsOf({ instructions }: Face) {
  return instructions === null ? {} : { instructions };
}
