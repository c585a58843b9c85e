import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { isJsonObject, type JsonObject } from '../../core/vocabulary/read-wire.ts';
import type { OpenApiSettings, ToolResult } from '../../engine/ports.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { UpstreamFault } from './failure.ts';
import { OpenApiDocument, readDocument } from './openapi-document.ts';
import { type ApiOperation, type ApiParameter, toolsOf } from './openapi-tools.ts';

const DEFAULTS = {
  /** Characters of what the document says of the API as a whole, and of its name and version. */
  instructions: 2_000,
  name: 200,
  /** Bytes of an answer. */
  answerBytes: 8 * 1024 * 1024,
  /** Characters of the body of an error. */
  error: 20_000,
  /** Redirects within the allowed addresses. */
  redirects: 3,
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

const bounded = boundedFetch(fetch, DEFAULTS.answerBytes);

/** Makes the request of one call. A refusal of the API is a result; only a lost connection is thrown. */
async function callOperation(
  operation: ApiOperation,
  args: JsonObject,
  settings: OpenApiSettings,
  signal: AbortSignal,
): Promise<ToolResult> {
  let request: { url: URL; init: RequestInit };
  try {
    request = requestOf(operation, args, settings);
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: PmlError.from(error).message }] };
  }
  const { init } = request;
  let { url } = request;
  for (let redirect = 0; ; redirect++) {
    const response = await bounded(url, { ...init, signal, redirect: 'manual' });
    const location = response.status >= 300 && response.status < 400 && response.headers.get('location');
    if (!location) return await resultOf(response);
    await response.body?.cancel();
    const target = URL.parse(location, url);
    const isRepeatable = init.method === 'GET' || init.method === 'HEAD';
    const isAllowed = target !== null && settings.origins.includes(target.origin);
    if (!isAllowed || !isRepeatable || redirect >= DEFAULTS.redirects) {
      const text = `HTTP ${response.status}: it redirects to ${location.slice(0, 500)}, which is not followed`;
      return { isError: true, content: [{ type: 'text', text }] };
    }
    url = target;
  }
}

/** The HTTP request that a call means. */
function requestOf(
  { method, path, base, parameters, body }: ApiOperation,
  args: JsonObject,
  { headers: fixed, auth, origins }: OpenApiSettings,
): { readonly url: URL; readonly init: RequestInit } {
  const given = (place: ApiParameter['place']) =>
    parameters.filter((one) => one.place === place).map((one) => ({ ...one, value: givenValue(one, args) }));
  let filled = path;
  for (const { name, value } of given('path'))
    filled = filled.replaceAll(`{${name}}`, () =>
      listed(value)
        .map((text) => encodeURIComponent(text))
        .join(','),
    );
  // A segment of dots would leave the path, however it is spelt.
  if (filled.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw new PmlError('invalid_argument', `The path ${filled.slice(0, 200)} has a segment "." or ".."`);

  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, '')}${filled}`;
  for (const parameter of given('query'))
    for (const [name, text] of queryOf(parameter)) url.searchParams.append(name, text);
  if (!origins.includes(url.origin))
    throw new PmlError('forbidden', `${url.origin} is not among the allowed addresses`);

  const headers = new Headers({ accept: 'application/json, text/*;q=0.9, */*;q=0.5' });
  for (const { name, value } of given('header'))
    if (value !== undefined) setHeader(headers, name, listed(value).join(','));
  const cookies = given('cookie').filter(({ value }) => value !== undefined);
  if (cookies.length > 0)
    setHeader(
      headers,
      'cookie',
      cookies.map(({ name, value }) => `${name}=${encodeURIComponent(listed(value).join(','))}`).join('; '),
    );
  const content = body && args[body.argument];
  const sent = content === undefined || content === null ? undefined : bodyText(body!.kind, content);
  // A form with files brings its own type, with the boundary.
  if (sent !== undefined && body && body.kind !== 'multipart') headers.set('content-type', body.type);
  for (const [name, value] of Object.entries(fixed)) setHeader(headers, name, value);
  if (auth) headers.set('authorization', `Bearer ${auth.token}`);
  return { url, init: { method, headers, ...(sent !== undefined && { body: sent }) } };
}

function givenValue({ name, argument, isRequired, place, isJson }: ApiParameter, args: JsonObject): unknown {
  const value = Object.hasOwn(args, argument) ? args[argument] : undefined;
  const isMissing = value === undefined || value === null || (place === 'path' && value === '');
  if (isMissing && isRequired)
    throw new PmlError('invalid_argument', `The argument "${argument}" (${name} in the ${place}) is missing`);
  if (isMissing) return undefined;
  return isJson ? JSON.stringify(value) : value;
}

/** The texts of a value: one of a scalar, one per item of a list, name and value in turn of an object. */
function listed(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(scalar);
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, one]) => [key, scalar(one)]);
  return [scalar(value)];
}

function scalar(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

/** Pairs of a query, in the styles of OpenAPI. */
function queryOf({
  name,
  style,
  isExploded,
  value,
}: ApiParameter & { readonly value: unknown }): [string, string][] {
  if (value === undefined) return [];
  if (isJsonObject(value)) {
    const entries = Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
    if (style === 'deepObject') return entries.map(([key, one]) => [`${name}[${key}]`, scalar(one)]);
    if (isExploded) return entries.map(([key, one]) => [key, scalar(one)]);
  }
  if (Array.isArray(value) && isExploded) return value.map((one) => [name, scalar(one)]);
  const separator = style === 'spaceDelimited' ? ' ' : style === 'pipeDelimited' ? '|' : ',';
  return [[name, listed(value).join(separator)]];
}

/** A text that no header may have, such as one with a line break, is the caller's mistake. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new PmlError('invalid_argument', `The header "${name}" cannot have this value`);
  }
}

function bodyText(
  kind: NonNullable<ApiOperation['body']>['kind'],
  content: unknown,
): string | Buffer<ArrayBuffer> | URLSearchParams | FormData {
  if (kind === 'json') return JSON.stringify(content);
  if (kind === 'text') return scalar(content);
  if (kind === 'bytes') return Buffer.from(scalar(content), 'base64');
  const fields = isJsonObject(content) ? Object.entries(content) : [];
  const pairs = fields.flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((one) => [name, scalar(one)] as const)
      : [[name, scalar(value)] as const],
  );
  if (kind === 'form') return new URLSearchParams(pairs.map(([name, value]) => [name, value]));
  const form = new FormData();
  for (const [name, value] of pairs) form.append(name, value);
  return form;
}

async function resultOf(response: Response): Promise<ToolResult> {
  const { status, statusText } = response;
  const type = response.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const line = `HTTP ${status} ${statusText}`.trim();
  if (!response.ok) {
    const said = (await response.text()).slice(0, DEFAULTS.error).trim();
    return { isError: true, content: [{ type: 'text', text: said === '' ? line : `${line}\n${said}` }] };
  }
  if (TEXT.test(type) || type === '') {
    const text = await response.text();
    return { content: [{ type: 'text', text: text === '' ? line : text }] };
  }
  const data = Buffer.from(await response.arrayBuffer()).toString('base64');
  if (data === '') return { content: [{ type: 'text', text: line }] };
  if (type.startsWith('image/')) return { content: [{ type: 'image', data, mimeType: type }] };
  if (type.startsWith('audio/')) return { content: [{ type: 'audio', data, mimeType: type }] };
  const resource = { uri: 'data:', mimeType: type, blob: data };
  return { content: [{ type: 'resource', resource }] };
}

const TEXT = /^text\/|[/+](?:json|xml|yaml|javascript|x-www-form-urlencoded|x-ndjson)$/;
