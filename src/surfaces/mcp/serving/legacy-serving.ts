import type { Principal } from '../../../core/vocabulary/principal.ts';
import type { Endpoint } from '../endpoint.ts';
import { RPC } from '../rpc-error.ts';
import { LegacySession } from './legacy-session.ts';
import { rpcResponse, thrownResponse } from './rpc-response.ts';
import type { ClientChannel } from './served-endpoint.ts';

const DEFAULTS = {
  sessions: 256,
  /** A session is over when its client neither calls nor listens for so long. */
  idleMs: 30 * 60_000,
  sweepMs: 60_000,
};

export interface LegacyOptions {
  readonly onError: (error: Error) => void;
  readonly now: () => number;
  readonly sessions?: number;
  readonly idleMs?: number;
  readonly sweepMs?: number;
}

/** Serves the 2025-11-25 era: sessions, made by the handshake and kept until their client is gone. */
export class LegacyServing {
  readonly #endpoint: Endpoint;
  readonly #options: Required<LegacyOptions>;
  readonly #sessions = new Map<string, LegacySession>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(endpoint: Endpoint, options: LegacyOptions) {
    this.#endpoint = endpoint;
    this.#options = { ...DEFAULTS, ...options };
    this.#sweeper = setInterval(() => this.#sweep(), this.#options.sweepMs).unref();
  }

  sessions(): Iterable<ClientChannel> {
    return this.#sessions.values();
  }

  async fetch(request: Request, body: unknown, who: Principal): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const isHandshake = (body as { method?: unknown } | null | undefined)?.method === 'initialize';
    if (isHandshake) return await this.#open(request, body, who);
    if (id === null) return rpcResponse(400, { code: -32000, message: 'Bad Request: no session yet' });
    const session = this.#sessions.get(id);
    // A session is that of the key it was opened with: to any other it is not there.
    if (session?.isOf(who)) return await session.fetch(request, body);
    return rpcResponse(404, { code: RPC.sessionNotFound, message: 'Session not found' });
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
  }

  async #open(request: Request, body: unknown, who: Principal): Promise<Response> {
    if (this.#sessions.size >= this.#options.sessions && !this.#closeIdlest(who)) {
      return rpcResponse(503, { code: RPC.internal, message: 'Too many sessions are in use' });
    }
    try {
      const session = new LegacySession({
        endpoint: this.#endpoint,
        serverInfo: await this.#endpoint.serverInfo(),
        who,
        now: this.#options.now,
        onError: this.#options.onError,
        onOpen: (opened) => this.#sessions.set(opened.clientId, opened),
        onClose: (closed) => this.#closed(closed),
      });
      await session.open();
      return await session.fetch(request, body);
    } catch (error) {
      return thrownResponse(error, body);
    }
  }

  #closed(session: LegacySession): void {
    if (this.#sessions.delete(session.clientId)) this.#endpoint.forget(session.clientId);
  }

  #sweep(): void {
    const tooLong = this.#options.now() - this.#options.idleMs;
    for (const session of this.#sessions.values()) {
      if (session.idleSince !== null && session.idleSince < tooLong) void session.close();
    }
  }

  /** Makes room among the sessions of the user who has most; false when every one of theirs is in use. */
  #closeIdlest({ user }: Principal): boolean {
    const byUser = Map.groupBy(this.#sessions.values(), (session) => session.user);
    const most = [...byUser].reduce((a, b) => (b[1].length > a[1].length ? b : a));
    // Who has as many as anybody gives way to themselves.
    const crowd = (byUser.get(user)?.length ?? 0) >= most[1].length ? byUser.get(user)! : most[1];
    const idle = crowd.filter((session) => session.idleSince !== null);
    const idlest = idle.sort((a, b) => (a.idleSince ?? 0) - (b.idleSince ?? 0))[0];
    void idlest?.close();
    return idlest !== undefined;
  }
}
