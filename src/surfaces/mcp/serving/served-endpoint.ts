import type { ServerEvent } from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { JsonObject } from '../../../engine/ports.ts';

/** A client that can be told something, on a connection or while a request of it is under way. */
export interface ClientChannel {
  readonly clientId: string;
  readonly user: string;
  /** Of a modern request; null where it asks for no log messages. */
  readonly logLevel: string | null;
  tell(method: string, params: JsonObject): void;
}

/** An endpoint over HTTP, in both protocol eras. */
export interface ServedEndpoint {
  fetch(request: Request, who: Principal): Promise<Response>;
  /** Clients of the 2025-11-25 era, each with a connection of its own. */
  sessions(): Iterable<ClientChannel>;
  /** Requests of the 2026-07-28 era that are under way. */
  requests(): Iterable<ClientChannel>;
  /** To the clients of the 2026-07-28 era that listen for it: those of one user, or with null all. */
  publish(event: ServerEvent, user: string | null): void;
  close(): Promise<void>;
}
