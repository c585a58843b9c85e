import { createHash } from 'node:crypto';
import type { Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { ClientRequest, RequestCaller } from '../endpoint.ts';
import type { KnownServers } from '../known-servers.ts';
import { invalidParams, valueIn } from '../rpc-error.ts';
import type { Listings } from './listings.ts';
import { parseGatewayUri, throughGateway } from './resource-uri.ts';

const DEFAULTS = {
  /** Longest name that clients accept. */
  chars: 64,
  hashChars: 8,
};

interface OwnName {
  readonly server: string;
  readonly prompt: string;
}

/** The prompts of every server, as `server:prompt`. */
export class Prompts {
  readonly #gateway: Gateway;
  readonly #listings: Listings;
  readonly #servers: KnownServers;
  /** The original names of shortened ones. */
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

  /** The server's own name for a prompt; may have to list prompts to resolve a shortened one. */
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

/** `server:prompt`, shortened with a hash if clients would reject its length. */
export function gatewayPromptName(server: string, prompt: string): string {
  const whole = `${server}:${prompt}`;
  return whole.length <= DEFAULTS.chars ? whole : shortened(whole, whole, '~');
}

/** The beginning of a name with a hash of the whole id, at most as long as clients accept. */
export function shortened(id: string, name: string, mark: '~' | '_'): string {
  const { chars, hashChars } = DEFAULTS;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, hashChars);
  return `${name.slice(0, chars - hashChars - 1)}${mark}${hash}`;
}

/** The server and its own name for the prompt; null if the name was shortened. */
export function splitPromptName(
  name: string,
  servers: readonly string[],
): { server: string; prompt: string } | null {
  if (name.length === DEFAULTS.chars && name.at(-DEFAULTS.hashChars - 1) === '~') return null;
  const server = servers.find((candidate) => name.startsWith(`${candidate}:`));
  return server === undefined ? null : { server, prompt: name.slice(server.length + 1) };
}

const NOTHING = { completion: { values: [], total: 0, hasMore: false } };

/** `completion/complete`, for a prompt's argument or a resource template's variable. */
export async function complete(
  gateway: Gateway,
  prompts: Prompts,
  { params, meta, caller }: ClientRequest,
): Promise<JsonObject> {
  const ref = (params.ref ?? {}) as JsonObject;
  const ask = async (server: string, own: JsonObject) => {
    const sent = { ...params, ref: { ...ref, ...own } };
    return valueIn(await gateway.request(server, 'completion/complete', sent, caller, meta));
  };
  switch (ref.type) {
    case 'ref/prompt': {
      const { server, prompt } = await prompts.resolve(ref.name, caller);
      return await ask(server, { name: prompt });
    }
    case 'ref/resource': {
      const named = parseGatewayUri(ref.uri);
      return 'result' in named ? NOTHING : await ask(named.server, { uri: named.uri });
    }
    default:
      throw invalidParams(`"ref.type" must be "ref/prompt" or "ref/resource", not "${ref.type}"`);
  }
}
