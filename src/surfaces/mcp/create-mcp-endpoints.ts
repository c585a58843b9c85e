import { randomUUID } from 'node:crypto';
import { isJsonContentType, isLegacyRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { Principal } from '../../core/vocabulary/principal.ts';
import type { Gateway } from '../../engine/gateway.ts';
import type { JsonObject, Logger, UpstreamEvent } from '../../engine/ports.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { type OperationContext, operationContext } from '../../operations/operation-context.ts';
import { OPERATIONS } from '../../operations/table.ts';
import { ClientSubscriptions } from './client-subscriptions.ts';
import type { Endpoint } from './endpoint.ts';
import { FanOut } from './fan-out.ts';
import { forwardEvent, forwardToGateway } from './forward.ts';
import { createGatewayEndpoint } from './gateway-endpoint.ts';
import { KnownServers } from './known-servers.ts';
import { MirroredArguments } from './mirrored-arguments.ts';
import { Listings } from './pass-through/listings.ts';
import { RPC } from './rpc-error.ts';
import { type LegacyOptions, LegacyServing } from './serving/legacy-serving.ts';
import { type ModernOptions, ModernServing } from './serving/modern-serving.ts';
import { rpcResponse } from './serving/rpc-response.ts';
import type { ServedEndpoint } from './serving/served-endpoint.ts';
import { createTransparentEndpoint } from './transparent-endpoint.ts';

export interface McpOptions {
  readonly version: string;
  readonly logger: Logger;
  /** What is offered; absent: all that PML can be asked. */
  readonly operations?: readonly AnyOperation[];
  /** Absent: one of its own. */
  readonly context?: OperationContext;
  /** Bytes of text that an answer of `/mcp` may hold before it becomes a preview. */
  readonly resultBytes?: number;
  /** Milliseconds a list over all servers waits for a slow one. */
  readonly listWaitMs?: number;
  /** Sessions of the 2025-11-25 era: how many at most, and how long one may lie idle. */
  readonly sessions?: number;
  readonly idleMs?: number;
  readonly sweepMs?: number;
  /** In milliseconds, for how long a session lay idle. */
  readonly now?: () => number;
  /** Milliseconds a call waits for its client to answer what it asked. */
  readonly holdMs?: number;
}

export interface McpEndpoints {
  /** `/mcp`. */
  gateway(request: Request, who: Principal): Promise<Response>;
  /** `/mcp/servers/<name>`. */
  server(name: string, request: Request, who: Principal): Promise<Response>;
  close(): Promise<void>;
}

interface Transparent {
  readonly served: ServedEndpoint;
  readonly fanOut: FanOut;
  readonly mirrored: MirroredArguments;
}

/**
 * The gateway as MCP servers over HTTP, for clients of both protocol eras. Who may come in is checked
 * before: these take every request for a good one.
 */
export function createMcpEndpoints(gateway: Gateway, options: McpOptions): McpEndpoints {
  const { logger, version, operations = OPERATIONS, resultBytes, listWaitMs, ...rest } = options;
  const { context = operationContext(gateway, randomUUID().slice(0, 8)), ...limits } = rest;
  const serving = {
    now: () => performance.now(),
    ...limits,
    onError: (error: Error) => logger.log('debug', 'MCP', { error: error.message }),
  };
  const servers = new KnownServers(gateway);
  const listings = new Listings(gateway, servers, listWaitMs);
  const subscriptions = new ClientSubscriptions();
  const endpoint = createGatewayEndpoint({
    gateway,
    operations,
    context,
    servers,
    listings,
    subscriptions,
    logger,
    info: { name: 'pml', title: 'PML', version },
    ...(resultBytes !== undefined && { resultBytes }),
  });
  const served = serveEndpoint(endpoint, serving);
  const fanOut = new FanOut(served, subscriptions);
  const transparent = new Map<string, Transparent>();

  const open = (name: string): Transparent => {
    const known = transparent.get(name);
    if (known) return known;
    const own = new ClientSubscriptions();
    const mirrored = new MirroredArguments(gateway, name);
    const one = serveEndpoint(
      createTransparentEndpoint(gateway, name, own, endpoint.logLevels, mirrored),
      serving,
    );
    const opened = { served: one, fanOut: new FanOut(one, own), mirrored };
    transparent.set(name, opened);
    return opened;
  };

  const hear = async (event: UpstreamEvent) => {
    servers.hear(event);
    const direct = transparent.get(event.server);
    direct?.mirrored.hear(event);
    if (event.type === 'notification') {
      if (direct) forwardEvent(event, direct.fanOut);
      forwardToGateway(event, fanOut);
    } else if (event.state === 'ready') {
      for (const offer of await listings.lacking(event.server)) fanOut.listChanged(offer);
      await endpoint.logLevels.cameUp(event.server);
    }
  };
  const stopHearing = gateway.onUpstream((event) => {
    hear(event).catch((error) => logger.log('warn', 'A notification was lost', { error: String(error) }));
  });
  const isAttached = (name: string) =>
    gateway.settings().servers.some((server) => server.name === name && !server.disabled);
  const stopFollowing = gateway.events.follow(({ event }) => {
    // Capabilities are listed as resources, too: skills.
    if (event.type === 'capability_changed' && event.state !== 'candidate') fanOut.listChanged('resources');
    if (event.type !== 'config_reloaded') return;
    for (const [name, { served: gone }] of transparent) {
      if (isAttached(name)) continue;
      transparent.delete(name);
      void gone.close();
    }
  });

  return {
    gateway: (request, who) => served.fetch(request, who),
    server: async (name, request, who) => {
      if (isAttached(name)) return await open(name).served.fetch(request, who);
      const message = `Server "${name}" not found on this gateway`;
      return rpcResponse(404, { code: RPC.invalidParams, message });
    },
    async close() {
      stopHearing();
      stopFollowing();
      await Promise.all(
        [served, ...[...transparent.values()].map((one) => one.served)].map((one) => one.close()),
      );
    },
  };
}

const PARSE_ERROR = -32700;

type ServingOptions = LegacyOptions & ModernOptions;

/** Serves an endpoint over HTTP; each request says by itself to which protocol era it belongs. */
function serveEndpoint(endpoint: Endpoint, options: ServingOptions): ServedEndpoint {
  const legacy = new LegacyServing(endpoint, options);
  const modern = new ModernServing(endpoint, options);
  return {
    sessions: () => legacy.sessions(),
    requests: () => modern.requests(),
    publish: (event, user) => modern.publish(event, user),
    close: async () => {
      await Promise.all([legacy.close(), modern.close()]);
    },
    async fetch(request, who) {
      if (request.method !== 'POST') return await legacy.fetch(request, undefined, who);
      if (!isJsonContentType(request.headers.get('content-type'))) {
        return rpcResponse(415, { code: -32000, message: 'Content-Type must be application/json' });
      }
      let body: unknown;
      try {
        body = JSON.parse(await request.text());
      } catch {
        return rpcResponse(400, { code: PARSE_ERROR, message: 'Parse error: the body is not JSON' });
      }
      const isLegacy = !claimsModernEra(body) && (await isLegacyRequest(request, body));
      return await (isLegacy ? legacy : modern).fetch(request, body, who);
    },
  };
}

/** Says of most requests what `isLegacyRequest` says, without checking them: that is done where they are served. */
function claimsModernEra(body: unknown): boolean {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { _meta?: JsonObject } };
  return method !== 'initialize' && params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined;
}
