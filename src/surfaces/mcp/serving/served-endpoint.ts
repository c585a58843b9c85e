import type { ServerEvent } from '@modelcontextprotocol/server';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { JsonObject } from '../../../engine/ports.ts';

/** A client that can be notified, on a connection or during one of its requests. */
export interface ClientChannel {
  readonly clientId: string;
  readonly who: Principal;
  /** For a modern request; null if it wants no log messages. */
  readonly logLevel: string | null;
  tell(method: string, params: JsonObject): void;
}

/** An endpoint over HTTP, in both protocol eras. */
export interface ServedEndpoint {
  fetch(request: Request, who: Principal): Promise<Response>;
  /** Clients of the 2025-11-25 era, each with its own connection. */
  sessions(): Iterable<ClientChannel>;
  /** Open requests of the 2026-07-28 era. */
  requests(): Iterable<ClientChannel>;
  /** To subscribed clients of the 2026-07-28 era: those of one user, or all if null. */
  publish(event: ServerEvent, user: string | null): void;
  close(): Promise<void>;
}
