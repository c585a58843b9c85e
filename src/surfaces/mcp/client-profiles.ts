import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import type { Lane } from '../../core/vocabulary/key-scope.ts';
import type { Principal } from '../../core/vocabulary/principal.ts';
import type { Gateway } from '../../engine/gateway.ts';
import { asClient } from '../../engine/people/roles.ts';
import type { JsonObject } from '../../engine/ports.ts';

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
export function createClientProfiles(gateway: Pick<Gateway, 'settings'>) {
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
