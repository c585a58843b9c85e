import { mayReach } from '../../engine/people/roles.ts';
import type { Audience, JsonObject } from '../../engine/ports.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';
import { isGraveEnough } from './pass-through/log-levels.ts';
import type { ClientChannel, ServedEndpoint } from './serving/served-endpoint.ts';

const LOG_MESSAGE = 'notifications/message';

const EVERYBODY: Audience = { clientId: null, user: null };

export type ListKind = 'tools' | 'prompts' | 'resources';

/** Notifies the clients of one endpoint, each in the way of its era. */
export class FanOut {
  readonly #served: ServedEndpoint;
  readonly #subscriptions: ClientSubscriptions;

  constructor(served: ServedEndpoint, subscriptions: ClientSubscriptions) {
    this.#served = served;
    this.#subscriptions = subscriptions;
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
