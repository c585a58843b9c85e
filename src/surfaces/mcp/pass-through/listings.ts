import { createHash } from 'node:crypto';
import type { Gateway } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { ClientRequest, RequestCaller } from '../endpoint.ts';
import { hasOffer, type KnownServers, type Offer } from '../known-servers.ts';
import { invalidParams, valueIn } from '../rpc-error.ts';
import { parseGatewayUri, throughGateway } from './resource-uri.ts';

const DEFAULTS = {
  /** Milliseconds to wait for a server; slower ones are left out. */
  waitMs: 3_000,
  /** Longest name that clients accept. */
  chars: 64,
  hashChars: 8,
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
