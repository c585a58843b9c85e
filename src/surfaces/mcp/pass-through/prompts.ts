import type { Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { ClientRequest, RequestCaller } from '../endpoint.ts';
import type { KnownServers } from '../known-servers.ts';
import { invalidParams, valueIn } from '../rpc-error.ts';
import type { Listings } from './listings.ts';
import { gatewayPromptName, splitPromptName } from './prompt-name.ts';
import { throughGateway } from './resource-uri.ts';

interface OwnName {
  readonly server: string;
  readonly prompt: string;
}

/** The prompts of every server, as `server:prompt`. */
export class Prompts {
  readonly #gateway: Gateway;
  readonly #listings: Listings;
  readonly #servers: KnownServers;
  /** What shortened names stand for. */
  readonly #shortened = new Map<string, OwnName>();

  constructor(gateway: Gateway, listings: Listings, servers: KnownServers) {
    this.#gateway = gateway;
    this.#listings = listings;
    this.#servers = servers;
  }

  async list({ params, caller }: ClientRequest): Promise<JsonObject> {
    return await this.#page(params.cursor, caller);
  }

  async get({ params, meta, caller }: ClientRequest): Promise<JsonObject> {
    const { server, prompt } = await this.resolve(params.name, caller);
    const sent = { ...params, name: prompt };
    const got = valueIn(await this.#gateway.request(server, 'prompts/get', sent, caller, meta));
    const messages = ((got.messages ?? []) as readonly JsonObject[]).map((message) => ({
      ...message,
      content: throughGateway(server, message.content as JsonObject),
    }));
    return { ...got, messages };
  }

  /** The server's own name for a prompt; a shortened one may have to be looked up. */
  async resolve(name: unknown, caller: RequestCaller): Promise<OwnName> {
    const text = String(name);
    const known = splitPromptName(text, this.#servers.names()) ?? this.#shortened.get(text);
    if (known) return known;
    let cursor: unknown;
    do {
      cursor = (await this.#page(cursor, caller)).nextCursor;
    } while (cursor !== undefined && !this.#shortened.has(text));
    const found = this.#shortened.get(text);
    if (!found) throw invalidParams(`Prompt "${text}" not found; names look like SERVER:PROMPT`);
    return found;
  }

  async #page(cursor: unknown, caller: RequestCaller): Promise<JsonObject> {
    const page = await this.#listings.page('prompts', 'prompts/list', 'prompts', cursor, caller);
    const prompts = page.items.map(({ server, item }) => {
      const prompt = String(item.name);
      const name = gatewayPromptName(server, prompt);
      if (name !== `${server}:${prompt}`) this.#shortened.set(name, { server, prompt });
      return { ...item, name };
    });
    return { prompts, ...(page.nextCursor !== undefined && { nextCursor: page.nextCursor }) };
  }
}
