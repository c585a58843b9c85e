import {
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** In the 2025-11-25 era, the code of an error that the SDK would turn into "invalid params". */
const RESOURCE_NOT_FOUND = -32002;

/** The SDK's transport, with error codes as the server further up gave them. */
export class SessionTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #notFound = new Set<RequestId>();

  /** Keeps the code of what a request failed with. */
  failed(id: RequestId, error: unknown): void {
    if ((error as { code?: unknown }).code === RESOURCE_NOT_FOUND) this.#notFound.add(id);
  }

  override send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    if (!('error' in message) || message.id === undefined || !this.#notFound.delete(message.id)) {
      return super.send(message, options);
    }
    return super.send({ ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } }, options);
  }
}
