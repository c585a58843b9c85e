import type { JsonObject } from '../../engine/ports.ts';
import type { ClientBook } from './client-book.ts';
import { isGraveEnough } from './log-level.ts';
import type { Outlet, ServedEndpoint } from './serving/served-endpoint.ts';

const LOG_MESSAGE = 'notifications/message';

export type ListKind = 'tools' | 'prompts' | 'resources';

/** Tells the clients of one endpoint what happened, each in the way of its era. */
export class FanOut {
  readonly #served: ServedEndpoint;
  readonly #book: ClientBook;

  constructor(served: ServedEndpoint, book: ClientBook) {
    this.#served = served;
    this.#book = book;
  }

  listChanged(list: ListKind, params: JsonObject = {}): void {
    for (const session of this.#served.sessions()) {
      session.tell(`notifications/${list}/list_changed`, params);
    }
    this.#served.publish({ kind: `${list}_list_changed`, params });
  }

  /** To those who watch it. */
  resourceUpdated(uri: string, params: JsonObject): void {
    for (const session of this.#served.sessions()) {
      if (!this.#book.watches(session.clientId, uri)) continue;
      session.tell('notifications/resources/updated', { ...params, uri });
    }
    this.#served.publish({ kind: 'resource_updated', uri, params });
  }

  /** A remark of a server: to the client whose request it belongs to, to everyone when that cannot be told. */
  remark(method: string, params: JsonObject, clientId: string | null): void {
    for (const session of this.#served.sessions()) {
      if (this.#concerns(session, clientId) && this.#sessionWants(session, method, params, clientId)) {
        session.tell(method, params);
      }
    }
    for (const request of this.#served.requests()) {
      if (this.#concerns(request, clientId) && requestWants(request, method, params))
        request.tell(method, params);
    }
  }

  #concerns(outlet: Outlet, clientId: string | null): boolean {
    return clientId === null || clientId === outlet.clientId;
  }

  /** Who never set a level hears what belongs to its own requests. */
  #sessionWants(session: Outlet, method: string, params: JsonObject, clientId: string | null): boolean {
    if (method !== LOG_MESSAGE) return true;
    const level = this.#book.levelOf(session.clientId);
    return level === null ? clientId !== null : isGraveEnough(params.level, level);
  }
}

function requestWants(request: Outlet, method: string, params: JsonObject): boolean {
  if (method !== LOG_MESSAGE) return true;
  return request.logLevel !== null && isGraveEnough(params.level, request.logLevel);
}
