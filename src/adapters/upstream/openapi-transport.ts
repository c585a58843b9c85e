import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { isJsonObject, type JsonObject } from '../../core/vocabulary/read-wire.ts';
import type { OpenApiSettings } from '../../engine/ports.ts';
import { UpstreamFault } from './failure.ts';
import { OpenApiDocument, readDocument } from './openapi-document.ts';
import { callOperation } from './openapi-request.ts';
import { type ApiOperation, toolsOf } from './openapi-tools.ts';

const DEFAULTS = {
  /** Characters of what the document says of the API as a whole, and of its name and version. */
  instructions: 2_000,
  name: 200,
};
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

type RequestId = string | number;

/**
 * An API with an OpenAPI document as an MCP server in this process: messages end here, and a call of a tool is a request
 * to the API. So it is listed, pinned, limited, cancelled and traced like every other server.
 */
export class OpenApiTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #settings: OpenApiSettings;
  readonly #note: (text: string) => void;
  readonly #calls = new Map<RequestId, AbortController>();
  #operations: ReadonlyMap<string, ApiOperation> = new Map();
  #about: JsonObject = {};

  /** `note` gets what a person may want to know about the document. */
  constructor(settings: OpenApiSettings, note: (text: string) => void) {
    this.#settings = settings;
    this.#note = note;
  }

  async start(): Promise<void> {
    const { name: server, document: file } = this.#settings;
    try {
      const document = OpenApiDocument.of(file, await readDocument(file));
      const { operations, notes } = toolsOf(document, this.#settings);
      for (const note of notes) this.#note(note);
      if (operations.length === 0) throw nothingToCall(file, notes[0]);
      this.#operations = new Map(operations.map((operation) => [operation.tool.name, operation]));
      this.#about = isJsonObject(document.root.info) ? document.root.info : {};
    } catch (error) {
      const { code, message, hint } = PmlError.from(error);
      const failure = { code, errorType: 'VALIDATION', message: `Server "${server}": ${message}` } as const;
      throw new UpstreamFault({ ...failure, ...(hint !== undefined && { hint }) }, error);
    }
  }

  /** Rejects when the API cannot be reached, so that the failure is one of the connection. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return;
    const params = (message.params ?? {}) as JsonObject;
    if (!('id' in message)) {
      if (message.method === 'notifications/cancelled')
        this.#calls.get(params.requestId as RequestId)?.abort();
      return;
    }
    const { id, method } = message;
    const answer = await this.#answer(id, method, params);
    this.onmessage?.({ jsonrpc: '2.0', id, ...answer } as JSONRPCMessage);
  }

  async close(): Promise<void> {
    for (const call of this.#calls.values()) call.abort();
    this.onclose?.();
  }

  async #answer(id: RequestId, method: string, params: JsonObject): Promise<JsonObject> {
    switch (method) {
      case 'initialize':
        return { result: this.#introduction(params.protocolVersion) };
      case 'ping':
        return { result: {} };
      case 'tools/list':
        return { result: { tools: [...this.#operations.values()].map(({ tool }) => tool) } };
      case 'tools/call':
        return await this.#call(id, params);
      default:
        return { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
    }
  }

  async #call(id: RequestId, { name, arguments: args }: JsonObject): Promise<JsonObject> {
    const operation = this.#operations.get(String(name));
    if (!operation) return { error: { code: INVALID_PARAMS, message: `Unknown tool: ${String(name)}` } };
    const call = new AbortController();
    this.#calls.set(id, call);
    try {
      const given = isJsonObject(args) ? args : {};
      return { result: await callOperation(operation, given, this.#settings, call.signal) };
    } finally {
      this.#calls.delete(id);
    }
  }

  #introduction(protocolVersion: unknown): JsonObject {
    const { title, version, description } = this.#about;
    const text = (value: unknown, most: number) =>
      typeof value === 'string' ? value.slice(0, most).toWellFormed() : '';
    const instructions = text(description, DEFAULTS.instructions);
    return {
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: {
        name: text(title, DEFAULTS.name) || this.#settings.name,
        version: text(version, DEFAULTS.name) || '0',
      },
      ...(instructions !== '' && { instructions }),
    };
  }
}

function nothingToCall(file: string, reason: string | undefined): PmlError {
  const why = reason === undefined ? '' : `: ${reason}`;
  return new PmlError('config_invalid', `The OpenAPI document ${file} has no operation to call${why}`, {
    hint: 'Set "url" to the address of the API, or add it to "origins" of the server.',
  });
}
