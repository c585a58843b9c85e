import { randomUUID } from 'node:crypto';
import {
  CLIENT_INFO_META_KEY,
  isJsonContentType,
  isLegacyRequest,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import type { Lane, Principal } from '../../core/vocabulary/principal.ts';
import type { Gateway } from '../../engine/gateway.ts';
import { asClient, mayReach } from '../../engine/people/roles.ts';
import type { Audience, JsonObject, Logger, UpstreamEvent } from '../../engine/ports.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { type OperationContext, operationContext } from '../../operations/operation-context.ts';
import { OPERATIONS } from '../../operations/table.ts';
import { ClientSubscriptions, isGraveEnough } from './client-subscriptions.ts';
import type { ClientChannel, DirectCaller, Endpoint, ServedEndpoint } from './endpoint.ts';
import { createGatewayEndpoint } from './gateway-endpoint.ts';
import { KnownServers } from './known-servers.ts';
import { createNativeEndpoint } from './native-endpoint.ts';
import { Listings } from './pass-through/listings.ts';
import { gatewayUri } from './pass-through/resource-uri.ts';
import { RPC, rpcResponse } from './rpc-error.ts';
import { type LegacyOptions, LegacyServing } from './serving/legacy-serving.ts';
import { type ModernOptions, ModernServing } from './serving/modern-serving.ts';
import { asPlainCall, plainCall } from './serving/short-calls.ts';
import { TaskOwners } from './serving/tasks.ts';
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
  /** Milliseconds until a long call of a client that knows tasks becomes one. */
  readonly patienceMs?: number;
}

export interface McpEndpoints {
  /** `/mcp`. */
  gateway(request: Request, who: Principal): Promise<Response>;
  /** `/mcp/all`; with `?meta=1` the tools of `/mcp` besides. */
  native(request: Request, who: Principal): Promise<Response>;
  /** `/mcp/servers/<name>`. */
  server(name: string, request: Request, who: Principal): Promise<Response>;
  /** A call to `/mcp`, or in another lane, from within this process; null where it has to come as a request. */
  call(message: unknown, from: DirectCaller, lane?: Lane): ReturnType<ServedEndpoint['call']>;
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
  const { logger, version, operations = OPERATIONS, resultBytes, patienceMs, listWaitMs, ...rest } = options;
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
    ...(patienceMs !== undefined && { patienceMs }),
  });
  const served = serveEndpoint(endpoint, serving);
  const fanOut = new FanOut(served, subscriptions);
  const transparent = new Map<string, Transparent>();

  const open = (name: string): Transparent => {
    const known = transparent.get(name);
    if (known) return known;
    const own = new ClientSubscriptions();
    const mirrored = new MirroredArguments(gateway, name);
    const owners = new TaskOwners();
    const one = serveEndpoint(
      createTransparentEndpoint(gateway, name, own, endpoint.logLevels, mirrored, owners),
      serving,
    );
    const opened = { served: one, fanOut: new FanOut(one, own, owners), mirrored };
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
      // Skills are resources, too, and have no notification of their own.
      for (const offer of await listings.lacking(event.server))
        for (const each of fanOuts) each.listChanged(offer === 'skills' ? 'resources' : offer);
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
    native: (request, who) => atLane(nativeLane(new URL(request.url)), request, who),
    call(message, from, asked = 'search') {
      // What the configuration says of clients by name is looked up with requests.
      if ((gateway.settings().clients ?? []).length > 0) return null;
      return inLane(from.who.scope?.lane ?? asked).call(message, from);
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
      endpoint.tasks.close();
      await Promise.all(
        [served, ...[...natives, ...transparent.values()].map((one) => one.served)].map((one) => one.close()),
      );
    },
  };
}

/** The lane that an address of `/mcp/all` asks for. */
export function nativeLane({ searchParams }: URL): Lane {
  return searchParams.get('meta') === '1' ? 'both' : 'native';
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
    call(message, from) {
      const call = plainCall(message);
      return call && legacy.callDirectly(call, from);
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
      const call = claimsModernEra(body) ? null : asPlainCall(request, body);
      const answer = call && legacy.call(request, call, who);
      if (answer) return await answer;
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

const OF_TASKS = 'notifications/tasks';
const LIST_CHANGED = /^notifications\/(tools|prompts|resources)\/list_changed$/;

/** Passes a server's notification unchanged to the clients of its transparent endpoint. */
function forwardEvent(event: Notification, fanOut: FanOut): void {
  const { method, params } = event;
  const list = LIST_CHANGED.exec(method)?.[1] as ListKind | undefined;
  if (list) fanOut.listChanged(list, params, event);
  else if (method === 'notifications/resources/updated')
    fanOut.resourceUpdated(String(params.uri), params, event);
  else if (method.startsWith(OF_TASKS)) fanOut.taskChanged(method, params, event);
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

const LOG_MESSAGE = 'notifications/message';

const EVERYBODY: Audience = { clientId: null, user: null };

export type ListKind = 'tools' | 'prompts' | 'resources';

/** Notifies the clients of one endpoint, each in the way of its era. */
class FanOut {
  readonly #served: ServedEndpoint;
  readonly #subscriptions: ClientSubscriptions;
  readonly #owners: TaskOwners;

  /** Only servers' own endpoints have tasks of servers, and thus `owners`. */
  constructor(served: ServedEndpoint, subscriptions: ClientSubscriptions, owners = new TaskOwners()) {
    this.#served = served;
    this.#subscriptions = subscriptions;
    this.#owners = owners;
  }

  listChanged(list: ListKind, params: JsonObject = {}, audience: ServerAudience = EVERYBODY): void {
    for (const session of this.#served.sessions()) {
      if (concerns(session, audience)) session.tell(`notifications/${list}/list_changed`, params);
    }
    this.#served.publish({ kind: `${list}_list_changed`, params }, audience.user);
  }

  /** To its subscribers; if it comes from a user's own process, to that user only. */
  resourceUpdated(uri: string, params: JsonObject, audience: ServerAudience = EVERYBODY): void {
    for (const session of this.#served.sessions()) {
      if (!concerns(session, audience) || !this.#subscriptions.watches(session.clientId, uri)) continue;
      session.tell('notifications/resources/updated', { ...params, uri });
    }
    this.#served.publish({ kind: 'resource_updated', uri, params }, audience.user);
  }

  /** To the sessions of the caller that started the task. */
  taskChanged(method: string, params: JsonObject, { user }: ServerAudience): void {
    for (const session of this.#served.sessions()) {
      const isOwn = this.#owners.owns(session.who, params.taskId);
      if (isOwn && concerns(session, { clientId: null, user })) session.tell(method, params);
    }
  }

  /** A server's log message: to the client of its request, or else to its user. */
  remark(method: string, params: JsonObject, audience: ServerAudience): void {
    for (const session of this.#served.sessions()) {
      if (concerns(session, audience) && this.#sessionWants(session, method, params, audience)) {
        session.tell(method, params);
      }
    }
    for (const request of this.#served.requests()) {
      if (concerns(request, audience) && requestWants(request, method, params)) request.tell(method, params);
    }
  }

  /** A client that never set a level gets the messages of its own requests. */
  #sessionWants(session: ClientChannel, method: string, params: JsonObject, { clientId }: Audience): boolean {
    if (method !== LOG_MESSAGE) return true;
    const level = this.#subscriptions.levelOf(session.clientId);
    return level === null ? clientId !== null : isGraveEnough(params.level, level);
  }
}

/** Whom something of a server is for. */
type ServerAudience = Audience & { readonly server?: string };

function concerns(channel: ClientChannel, { clientId, user, server }: ServerAudience): boolean {
  if (user !== null && user !== channel.who.user) return false;
  if (server !== undefined && !mayReach(channel.who, server)) return false;
  return clientId === null || clientId === channel.clientId;
}

function requestWants(request: ClientChannel, method: string, params: JsonObject): boolean {
  if (method !== LOG_MESSAGE) return true;
  return request.logLevel !== null && isGraveEnough(params.level, request.logLevel);
}

const DEFAULTS = {
  /** Sessions whose client is known: more than can be open at once. */
  sessions: 4_096,
};

const SESSION = 'mcp-session-id';

type Send = (request: Request, who: Principal, lane: Lane | null) => Promise<Response>;

/**
 * What the configuration says of a client by the name it gives itself: in its handshake, for its session, or with every
 * request. Without such a configuration no body is looked at.
 */
function createClientProfiles(gateway: Pick<Gateway, 'settings'>) {
  const names = new LRUCache<string, string>({ max: DEFAULTS.sessions });

  return async (request: Request, who: Principal, send: Send): Promise<Response> => {
    const lane = who.scope?.lane ?? null;
    const { clients = [] } = gateway.settings();
    if (clients.length === 0) return await send(request, who, lane);
    const session = request.headers.get(SESSION);
    const told = request.method === 'POST' ? await clientIn(request.clone()) : undefined;
    const name = told ?? (session === null ? undefined : names.get(session));
    const profile = asClient(who, clients, name);
    // The owner of a key decides before the configuration does.
    const response = await send(request, profile.who, lane ?? profile.lane);
    const opened = response.headers.get(SESSION);
    if (opened !== null && told !== undefined) names.set(opened, told);
    return response;
  };
}

/** The name that the client gives itself in this message; undefined where it gives none. */
async function clientIn(request: Request): Promise<string | undefined> {
  try {
    const { method, params } = (await request.json()) as { method?: unknown; params?: JsonObject };
    const meta = params?._meta as JsonObject | undefined;
    const info = (method === 'initialize' ? params?.clientInfo : meta?.[CLIENT_INFO_META_KEY]) as
      | JsonObject
      | undefined;
    return typeof info?.name === 'string' ? info.name : undefined;
  } catch {
    // The endpoint refuses a body that it cannot read.
    return undefined;
  }
}
