import type { Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { RequestCaller } from '../endpoint.ts';
import { hasOffer, type KnownServers, type Offer } from '../known-servers.ts';
import { invalidParams } from '../rpc-error.ts';

const DEFAULTS = {
  /** Milliseconds to wait for a server; slower ones are left out. */
  waitMs: 3_000,
};

/**
 * Lists over many servers; remembers servers that were left out, so that clients can be told to list again.
 */
export class Listings {
  readonly #gateway: Gateway;
  readonly #servers: KnownServers;
  readonly #waitMs: number | undefined;
  readonly #missed: Readonly<Record<Offer, Set<string>>> = {
    resources: new Set(),
    prompts: new Set(),
    skills: new Set(),
  };

  constructor(gateway: Gateway, servers: KnownServers, waitMs?: number) {
    this.#gateway = gateway;
    this.#servers = servers;
    this.#waitMs = waitMs;
  }

  async page(
    offer: Offer,
    method: string,
    field: string,
    cursor: unknown,
    caller: RequestCaller,
  ): Promise<ListPage> {
    const { offering, unknown } = await this.#servers.offering(offer);
    const waiting = this.#waitMs === undefined ? {} : { waitMs: this.#waitMs };
    const request = { method, field, servers: offering, cursor, ...waiting };
    const page = await listPage(this.#gateway, request, caller);
    for (const server of [...unknown, ...page.silent]) this.#missed[offer].add(server);
    return page;
  }

  /** The lists that lack items of this server, which has just started. */
  async lacking(server: string): Promise<readonly Offer[]> {
    const offers = (Object.keys(this.#missed) as Offer[]).filter((offer) =>
      this.#missed[offer].delete(server),
    );
    if (offers.length === 0) return [];
    const capabilities = await this.#servers.capabilities(server);
    return offers.filter((offer) => hasOffer(capabilities, offer));
  }
}

/** Servers with further items, each with its own cursor; `null` means the first page. */
type Position = readonly (readonly [server: string, cursor: string | null])[];

interface ListPage {
  /** In the order of the servers. */
  readonly items: readonly { readonly server: string; readonly item: JsonObject }[];
  readonly nextCursor?: string;
  /** Servers that did not respond. */
  readonly silent: readonly string[];
}

interface ListRequest {
  readonly method: string;
  /** The result's field with the list. */
  readonly field: string;
  readonly servers: readonly string[];
  readonly cursor: unknown;
  readonly waitMs?: number;
}

/** One page: the next page of every server that has one, requested in parallel. */
async function listPage(gateway: Gateway, request: ListRequest, caller: RequestCaller): Promise<ListPage> {
  const { method, field, servers, cursor, waitMs = DEFAULTS.waitMs } = request;
  const position = cursor === undefined ? servers.map((server) => [server, null] as const) : decode(cursor);
  const signal = AbortSignal.any([caller.signal, AbortSignal.timeout(waitMs)]);
  const answers = await Promise.all(
    position.map(async ([server, at]) => {
      const params = at === null ? {} : { cursor: at };
      const reply = await gateway.request(server, method, params, { ...caller, signal });
      return { server, page: reply.ok ? reply.value : null };
    }),
  );
  const next: (readonly [string, string])[] = [];
  const items: { server: string; item: JsonObject }[] = [];
  for (const { server, page } of answers) {
    if (typeof page?.nextCursor === 'string') next.push([server, page.nextCursor]);
    for (const item of (page?.[field] ?? []) as readonly JsonObject[]) items.push({ server, item });
  }
  const silent = answers.filter(({ page }) => page === null).map(({ server }) => server);
  return { items, silent, ...(next.length > 0 && { nextCursor: encode(next) }) };
}

function encode(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function decode(cursor: unknown): Position {
  try {
    const position = JSON.parse(Buffer.from(String(cursor), 'base64url').toString('utf8'));
    if (Array.isArray(position) && position.every(isPlace)) return position;
  } catch {
    // Continues to the error below: our own cursors are always valid.
  }
  throw invalidParams(`Invalid cursor "${cursor}"`);
}

function isPlace(place: unknown): boolean {
  return Array.isArray(place) && place.length === 2 && place.every((part) => typeof part === 'string');
}
