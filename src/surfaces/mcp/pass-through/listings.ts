import type { Gateway } from '../../../engine/gateway.ts';
import type { RequestCaller } from '../endpoint.ts';
import type { KnownServers } from '../known-servers.ts';
import { type ListPage, listPage } from './list-pages.ts';

export type Offer = 'resources' | 'prompts';

/** Lists over many servers; remembers whom a list had to do without, so that clients can list again. */
export class Listings {
  readonly #gateway: Gateway;
  readonly #servers: KnownServers;
  readonly #waitMs: number | undefined;
  readonly #missed: Readonly<Record<Offer, Set<string>>> = { resources: new Set(), prompts: new Set() };

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

  /** The lists that lack this server, which has just come up, though it has something to add. */
  async lacking(server: string): Promise<readonly Offer[]> {
    const offers = (Object.keys(this.#missed) as Offer[]).filter((offer) =>
      this.#missed[offer].delete(server),
    );
    if (offers.length === 0) return [];
    const capabilities = await this.#servers.capabilities(server);
    return offers.filter((offer) => capabilities?.[offer] !== undefined);
  }
}
