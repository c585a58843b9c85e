import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import type { GatewayTarget } from '../../src/adapters/client/gateway-link.ts';
import type { Gateway } from '../../src/engine/gateway.ts';
import { createMcpEndpoints, type McpEndpoints } from '../../src/surfaces/mcp/create-mcp-endpoints.ts';
import { fetchInto, SOMEBODY } from './mcp-endpoints.ts';

/** A gateway that others reach over HTTP, and that can be killed. */
export interface Holder {
  readonly target: GatewayTarget;
  /** The same without a network, as the process that holds the data folder has it. */
  readonly within: GatewayTarget;
  readonly gateway: Gateway;
  readonly endpoints: McpEndpoints;
  /** Cuts every connection, as `kill -9` does. */
  kill(): Promise<void>;
}

export async function startHolder(gateway: Gateway): Promise<Holder> {
  const endpoints = createMcpEndpoints(gateway, { version: '0.0.0', logger: { log: () => {} } });
  const fetch = (request: Request) => endpoints.gateway(request, SOMEBODY);
  const http = createServer(toNodeHandler({ fetch }) as unknown as RequestListener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  let killed: Promise<void> | null = null;
  const kill = async () => {
    const closed = new Promise((resolve) => http.close(resolve));
    http.closeAllConnections();
    await closed;
    await endpoints.close();
    await gateway.close();
  };
  return {
    target: { url: `http://127.0.0.1:${port}/mcp` },
    within: directTarget(endpoints),
    gateway,
    endpoints,
    kill: () => {
      killed ??= kill();
      return killed;
    },
  };
}

/** Calls are function calls, all else goes through `fetch`. */
export function directTarget(endpoints: McpEndpoints): GatewayTarget {
  return {
    url: 'http://gateway.test/mcp',
    fetch: fetchInto(endpoints),
    call: (message, from) => endpoints.call(message, { ...from, who: SOMEBODY }),
  };
}
