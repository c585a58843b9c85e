import type { Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { ClientSubscriptions } from '../client-subscriptions.ts';
import type { ClientRequest, RequestCaller } from '../endpoint.ts';
import type { KeptResults } from '../results/kept-results.ts';
import { valueIn } from '../rpc-error.ts';
import type { Skills } from '../skills/skills.ts';
import type { Listings } from './listings.ts';
import { gatewayUri, parseGatewayUri } from './resource-uri.ts';

type WatchingCaller = Pick<RequestCaller, 'client' | 'who'>;

export interface ResourceParts {
  readonly gateway: Gateway;
  readonly listings: Listings;
  readonly results: KeptResults;
  readonly subscriptions: ClientSubscriptions;
  readonly skills: Skills;
}

/** The resources of every server as `pml://<server>/<uri>`, oversized results, and skills. */
export class Resources {
  readonly #gateway: Gateway;
  readonly #listings: Listings;
  readonly #results: KeptResults;
  readonly #subscriptions: ClientSubscriptions;
  readonly #skills: Skills;

  constructor(parts: ResourceParts) {
    this.#gateway = parts.gateway;
    this.#listings = parts.listings;
    this.#results = parts.results;
    this.#subscriptions = parts.subscriptions;
    this.#skills = parts.skills;
  }

  async list({ params, caller }: ClientRequest): Promise<JsonObject> {
    const page = await this.#listings.page('resources', 'resources/list', 'resources', params.cursor, caller);
    const own = params.cursor === undefined ? await this.#skills.manifests(caller) : [];
    const passed = page.items.map(({ server, item }) => ({
      ...item,
      uri: gatewayUri(server, String(item.uri)),
    }));
    const resources = [...own, ...passed];
    return { resources, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
  }

  async templates({ params, caller }: ClientRequest): Promise<JsonObject> {
    const [method, field] = ['resources/templates/list', 'resourceTemplates'] as const;
    const page = await this.#listings.page('resources', method, field, params.cursor, caller);
    const own = params.cursor === undefined ? [this.#skills.template()] : [];
    const passed = page.items.map(({ server, item }) => ({
      ...item,
      uriTemplate: gatewayUri(server, String(item.uriTemplate)),
    }));
    const resourceTemplates = [...own, ...passed];
    return { resourceTemplates, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
  }

  async read({ params, meta, caller }: ClientRequest): Promise<JsonObject> {
    const own = await this.#skills.read(params.uri, caller);
    if (own) return own;
    const named = parseGatewayUri(params.uri);
    if ('result' in named) return { contents: [this.#results.contents(named.result)] };
    const { server, uri } = named;
    const sent = { ...params, uri };
    const read = valueIn(await this.#gateway.request(server, 'resources/read', sent, caller, meta));
    const contents = ((read.contents ?? []) as readonly JsonObject[]).map((part) =>
      typeof part.uri === 'string' ? { ...part, uri: gatewayUri(server, part.uri) } : part,
    );
    return { ...read, contents };
  }

  async subscribe({ params, caller }: ClientRequest): Promise<JsonObject> {
    await this.#watch(caller, String(params.uri));
    return {};
  }

  async unsubscribe({ params, caller }: ClientRequest): Promise<JsonObject> {
    const named = parseGatewayUri(params.uri);
    this.#subscriptions.unwatch(caller.client.id, String(params.uri));
    // A stored result never changes, so a subscription does nothing.
    if ('result' in named) return {};
    const { server, uri } = named;
    return valueIn(await this.#gateway.request(server, 'resources/unsubscribe', { uri }, caller));
  }

  /** Which of these resources can be watched. */
  async watch(caller: WatchingCaller, uris: readonly string[]): Promise<readonly string[]> {
    const granted = await Promise.all(
      uris.map((uri) =>
        this.#watch(caller, uri).then(
          () => uri,
          () => null,
        ),
      ),
    );
    return granted.filter((uri) => uri !== null);
  }

  /** If each user has their own connection to the server, that one is used. */
  async #watch({ client, who }: WatchingCaller, uri: string): Promise<void> {
    const named = parseGatewayUri(uri);
    if (!('result' in named)) {
      const caller = { sessionId: null, client, who };
      const asked = { uri: named.uri };
      valueIn(await this.#gateway.request(named.server, 'resources/subscribe', asked, caller));
    }
    this.#subscriptions.watch(client.id, uri);
  }
}
