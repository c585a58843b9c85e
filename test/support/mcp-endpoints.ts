import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { Principal } from '../../src/core/vocabulary/principal.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import type { JsonObject } from '../../src/engine/ports.ts';
import {
  createMcpEndpoints,
  type McpEndpoints,
  type McpOptions,
} from '../../src/surfaces/mcp/create-mcp-endpoints.ts';

export type Era = 'modern' | 'legacy';
/** An authenticated agent. */
export const SOMEBODY: Principal = { name: 'somebody', user: 'somebody', role: 'agent', keyId: null };
export const ERAS: readonly Era[] = ['modern', 'legacy'];

/** The endpoints of a gateway, closed when the test ends. */
export function openEndpoints(gateway: Gateway, options: Partial<McpOptions> = {}): McpEndpoints {
  const endpoints = createMcpEndpoints(gateway, { version: '0.0.0', logger: { log: () => {} }, ...options });
  onTestFinished(async () => {
    await endpoints.close();
    await gateway.close();
  });
  return endpoints;
}

/** `fetch` without a network: straight into the endpoint at the URL's path. */
export function fetchInto(endpoints: McpEndpoints, who: Principal = SOMEBODY): typeof fetch {
  return async (input, init) => {
    const request = new Request(input as string, init);
    if (new URL(request.url).pathname === '/mcp/all') return await endpoints.native(request, who);
    const name = /^\/mcp\/servers\/([^/]+)$/.exec(new URL(request.url).pathname)?.[1];
    if (name === undefined) return await endpoints.gateway(request, who);
    return await endpoints.server(name, request, who);
  };
}

export interface ConnectOptions {
  readonly era: Era;
  /** `/mcp` by default. */
  readonly path?: string;
  readonly capabilities?: ClientOptions['capabilities'];
  /** Answers requests of the server; gets method and params. */
  answer?(method: string, params: JsonObject): Promise<JsonObject>;
  readonly headers?: Record<string, string>;
  readonly name?: string;
}

/** The official client, connected in the given era. */
export async function connectClient(fetcher: typeof fetch, options: ConnectOptions): Promise<Client> {
  const { era, path = '/mcp', capabilities = {}, answer, headers = {}, name = 'test-client' } = options;
  const client = new Client(
    { name, version: '1.0.0' },
    {
      capabilities,
      ...(era === 'modern' && { versionNegotiation: { mode: 'auto', probe: { timeoutMs: 60_000 } } }),
    },
  );
  prepareClient(client, capabilities, answer);
  const url = new URL(`http://gateway.test${path}`);
  const transport = new StreamableHTTPClientTransport(url, { fetch: fetcher, requestInit: { headers } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

/** Lets the client answer what its capabilities promise. */
export function prepareClient(
  client: Client,
  capabilities: NonNullable<ClientOptions['capabilities']>,
  answer: ConnectOptions['answer'],
): void {
  if (!answer) return;
  const handle = async (request: { method: string; params?: unknown }) =>
    (await answer(request.method, (request.params ?? {}) as JsonObject)) as never;
  if (capabilities.elicitation) client.setRequestHandler('elicitation/create', handle);
  if (capabilities.sampling) client.setRequestHandler('sampling/createMessage', handle);
  if (capabilities.roots) client.setRequestHandler('roots/list', handle);
}

const UNTOUCHED = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: (value: unknown) => ({ value: value as JsonObject }),
  },
};

type RequestOptions = Parameters<Client['ping']>[0];

/** Sends any request; returns the answer as it came over the wire. */
export async function rawRequest(
  client: Client,
  method: string,
  params: JsonObject = {},
  options: RequestOptions = {},
): Promise<JsonObject> {
  return (await client.request({ method, params }, UNTOUCHED, options)) as JsonObject;
}

export interface ToolAnswer extends JsonObject {
  readonly content: readonly (JsonObject & { readonly type: string; readonly text?: string })[];
  readonly structuredContent: JsonObject;
  readonly isError?: boolean;
}

/** Calls a tool; returns the answer as it came over the wire. */
export async function callTool(
  client: Client,
  name: string,
  args: unknown,
  options: RequestOptions = {},
): Promise<ToolAnswer> {
  return (await rawRequest(client, 'tools/call', { name, arguments: args }, options)) as ToolAnswer;
}
