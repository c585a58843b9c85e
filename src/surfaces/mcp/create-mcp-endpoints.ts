import { randomUUID } from 'node:crypto';
import { isJsonContentType, isLegacyRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import type { Lane } from '../../core/vocabulary/key-scope.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import type { Gateway } from '../../engine/gateway.ts';
import { mayReach } from '../../engine/people/roles.ts';
import type { JsonObject, Logger, UpstreamEvent } from '../../engine/ports.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { type OperationContext, operationContext } from '../../operations/operation-context.ts';
import { OPERATIONS } from '../../operations/table.ts';
import { createClientProfiles } from './client-profiles.ts';
import { ClientSubscriptions } from './client-subscriptions.ts';
import type { Endpoint } from './endpoint.ts';
import { FanOut, type ListKind } from './fan-out.ts';
import { createGatewayEndpoint } from './gateway-endpoint.ts';
import { KnownServers } from './known-servers.ts';
import { createNativeEndpoint } from './native-endpoint.ts';
import { Listings } from './pass-through/listings.ts';
import { gatewayUri } from './pass-through/resource-uri.ts';
import { RPC, rpcResponse } from './rpc-error.ts';
import { type LegacyOptions, LegacyServing } from './serving/legacy-serving.ts';
import { type ModernOptions, ModernServing } from './serving/modern-serving.ts';
import type { ServedEndpoint } from './serving/served-endpoint.ts';
import { createTransparentEndpoint, MirroredArguments } from './transparent-endpoint.ts';
export interface McpOptions {
  readonly version: string;
  readonly logger: Logger;
  /** The operations to offer; by default all. */
  readonly operations?: readonly AnyOperation[];
  /** By default a new one. */
  readonly context?: OperationContext;
  /** Bytes of text in a response of `/mcp` before it becomes a preview. */
  readonly resultBytes?: number;
  /** Milliseconds a list over all servers waits for a slow one. */
  readonly listWaitMs?: number;
  /** Sessions of the 2025-11-25 era: the maximum number, and how long one may be idle. */
  readonly sessions?: number;
  readonly idleMs?: number;
  readonly sweepMs?: number;
  /** Clock for idle times, in milliseconds. */
  readonly now?: () => number;
  /** Milliseconds a call waits for its client's answers. */
  readonly holdMs?: number;
}

export interface McpEndpoints {
  /** `/mcp`. */
  gateway(request: Request, who: Principal): Promise<Response>;
  /** `/mcp/all`; with `?meta=1` the tools of `/mcp` besides. */
  native(request: Request, who: Principal): Promise<Response>;
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
 * The gateway as MCP servers over HTTP, for clients of both protocol eras. Requests must already be
 * authenticated.
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

  const natives = [false, true].map((withMeta) => {
    const mirroredSchema = (server: string, tool: string) => open(server).mirrored.schemaOf(tool);
    const one = serveEndpoint(createNativeEndpoint({ gateway, endpoint, withMeta, mirroredSchema }), serving);
    return { served: one, fanOut: new FanOut(one, subscriptions) };
  });
  /** `/mcp` and `/mcp/all` differ in their tools alone. */
  const fanOuts = [fanOut, ...natives.map((native) => native.fanOut)];

  const hear = async (event: UpstreamEvent) => {
    servers.hear(event);
    const direct = transparent.get(event.server);
    direct?.mirrored.hear(event);
    if (event.type === 'notification') {
      if (direct) forwardEvent(event, direct.fanOut);
      for (const each of fanOuts) forwardToGateway(event, each);
    } else if (event.state === 'ready') {
      for (const offer of await listings.lacking(event.server))
        for (const each of fanOuts) each.listChanged(offer);
      await endpoint.logLevels.cameUp(event.server);
    }
  };
  const stopHearing = gateway.onUpstream((event) => {
    hear(event).catch((error) => logger.log('warn', 'A notification was lost', { error: String(error) }));
  });
  const isAttached = (name: string) =>
    gateway.settings().servers.some((server) => server.name === name && !server.disabled);
  const stopFollowing = gateway.events.follow(({ event }) => {
    // Capabilities are also listed as resources (skills).
    if (event.type === 'capability_changed' && event.state !== 'candidate')
      for (const each of fanOuts) each.listChanged('resources');
    if (event.type === 'catalogue_changed' || event.type === 'config_reloaded')
      for (const native of natives) native.fanOut.listChanged('tools');
    if (event.type !== 'config_reloaded') return;
    for (const [name, { served: gone }] of transparent) {
      if (isAttached(name)) continue;
      transparent.delete(name);
      void gone.close();
    }
  });

  const inLane = (lane: Lane) => (lane === 'search' ? served : natives[lane === 'both' ? 1 : 0]!.served);

  const ofClient = createClientProfiles(gateway);
  const atLane = (asked: Lane, request: Request, who: Principal) =>
    ofClient(request, who, (same, seen, lane) => inLane(lane ?? asked).fetch(same, seen));

  return {
    gateway: (request, who) => atLane('search', request, who),
    native: (request, who) => {
      const isAsked = new URL(request.url).searchParams.get('meta') === '1';
      return atLane(isAsked ? 'both' : 'native', request, who);
    },
    server: (name, request, who) =>
      ofClient(request, who, async (same, seen) => {
        if (isAttached(name) && mayReach(seen, name)) return await open(name).served.fetch(same, seen);
        const message = `Server "${name}" not found on this gateway`;
        return rpcResponse(404, { code: RPC.invalidParams, message });
      }),
    async close() {
      stopHearing();
      stopFollowing();
      await Promise.all(
        [served, ...[...natives, ...transparent.values()].map((one) => one.served)].map((one) => one.close()),
      );
    },
  };
}

const PARSE_ERROR = -32700;

type ServingOptions = LegacyOptions & ModernOptions;

/** Serves an endpoint over HTTP; each request shows its protocol era. */
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

/** A fast version of `isLegacyRequest` for most requests; the handler validates them. */
function claimsModernEra(body: unknown): boolean {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { _meta?: JsonObject } };
  return method !== 'initialize' && params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined;
}

type Notification = Extract<UpstreamEvent, { type: 'notification' }>;

const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/;

/** Passes a server's notification unchanged to the clients of its transparent endpoint. */
function forwardEvent(event: Notification, fanOut: FanOut): void {
  const { method, params } = event;
  const list = LIST_CHANGED.exec(method)?.[1] as ListKind | undefined;
  if (list) fanOut.listChanged(list, params, event);
  else if (method === 'notifications/resources/updated')
    fanOut.resourceUpdated(String(params.uri), params, event);
  else fanOut.remark(method, params, event);
}

/** Passes it to the clients of `/mcp`, with the gateway's names, and only if they can use it. */
function forwardToGateway(event: Notification, fanOut: FanOut): void {
  const { server, method, params } = event;
  switch (method) {
    // The server's tools are not listed at `/mcp`; a changed inventory is announced separately.
    case 'notifications/tools/list_changed':
      break;
    case 'notifications/resources/updated':
      fanOut.resourceUpdated(gatewayUri(server, String(params.uri)), params, event);
      break;
    case 'notifications/message':
      fanOut.remark(method, { ...params, logger: loggerOf(server, params) }, event);
      break;
    default:
      forwardEvent(event, fanOut);
  }
}

function loggerOf(server: string, { logger }: JsonObject): string {
  return logger === undefined ? server : `${server}/${logger}`;
}
