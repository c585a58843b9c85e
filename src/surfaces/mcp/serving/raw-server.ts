import { Server, type ServerContext } from '@modelcontextprotocol/server';
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
  const server = new Server(face.info, {
    capabilities: face.capabilities,
    ...(face.instructions !== null && { instructions: face.instructions }),
  });
  server.removeRequestHandler('logging/setLevel');
  server.fallbackRequestHandler = ({ method, params }, context) =>
    handlers.onRequest(method, params, context);
  server.fallbackNotificationHandler = async ({ method, params }) =>
    handlers.onNotification(method, params ?? {});
  return server;
}
