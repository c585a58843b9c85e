import {
  SKILLS_EXTENSION_ID,
  SKILLS_GET_METHOD,
  SKILLS_LIST_METHOD,
  type Skill,
  skillEntry,
} from '@modelcontextprotocol/server/ext/skills';
import type { Principal } from '../../../core/vocabulary/principal.ts';
import { weighJson } from '../../../core/vocabulary/read-wire.ts';
import { isUnlisted } from '../../../engine/capabilities/capability-registry.ts';
import { skillFolder } from '../../../engine/capabilities/manage-capabilities.ts';
import { warningIn } from '../../../engine/catalogue/inventory.ts';
import type { Caller, Gateway } from '../../../engine/gateway.ts';
import { isRestricted } from '../../../engine/people/roles.ts';
import type { Capability, JsonObject, Logger } from '../../../engine/ports.ts';
import type { ClientRequest, RequestCaller } from '../endpoint.ts';
import type { Listings } from '../pass-through/listings.ts';
import { gatewayUri, parseGatewayUri } from '../pass-through/resource-uri.ts';
import { invalidParams } from '../rpc-error.ts';

const DEFAULTS = {
  pageSize: 100,
  /** Characters of one skill's entry in a server's list, and its nesting depth. */
  maxEntry: 256 * 1024,
  maxDepth: 20,
};

/** Begins the cursor of a page of servers' skills, which follow PML's own. */
const OF_SERVERS = 'servers.';

/** The capability of an endpoint with skills. */
export const SKILLS_CAPABILITY = { extensions: { [SKILLS_EXTENSION_ID]: {} } };

const SCHEME = 'skill://';
const MIME_TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  ts: 'text/typescript',
  json: 'application/json',
};

/**
 * Capabilities, and the skills of servers as `skill://<server>/…`, through MCP's Skills extension (SEP-2640): `skills/list`,
 * `skills/get`, and every file as a resource. The SDK's own handlers need a validating server, so these are ours, with
 * the SDK's entries.
 */
export class Skills {
  readonly #listed: ListedSkills;
  readonly #gateway: Gateway;
  readonly #listings: Listings;

  constructor(listed: ListedSkills, gateway: Gateway, listings: Listings) {
    this.#listed = listed;
    this.#gateway = gateway;
    this.#listings = listings;
  }

  async list({ params: { cursor }, modern, caller }: ClientRequest): Promise<JsonObject> {
    if (String(cursor).startsWith(OF_SERVERS)) {
      const page = await this.#ofServers(String(cursor).slice(OF_SERVERS.length), caller);
      return { ...page, ...cacheFields(modern) };
    }
    const all = (await this.#listed.all(caller)).map(({ skill }) => skill);
    const from = cursor === undefined ? 0 : all.findIndex(({ uri }) => uri === decode(cursor)) + 1;
    if (cursor !== undefined && from === 0)
      throw invalidParams('The list has changed; start again without a cursor');
    const skills = all.slice(from, from + DEFAULTS.pageSize);
    const last = from + skills.length < all.length ? skills.at(-1) : undefined;
    if (last) return { skills, nextCursor: encode(last.uri), ...cacheFields(modern) };
    const page = await this.#ofServers(undefined, caller);
    return { ...page, skills: [...skills, ...page.skills], ...cacheFields(modern) };
  }

  async #ofServers(cursor: string | undefined, caller: RequestCaller) {
    const page = await this.#listings.page('skills', SKILLS_LIST_METHOD, 'skills', cursor, caller);
    const skills = page.items.flatMap(({ server, item }) => throughGateway(server, item) ?? []);
    return { skills, ...(page.nextCursor !== undefined && { nextCursor: OF_SERVERS + page.nextCursor }) };
  }

  async get({ params: { uri }, modern, caller }: ClientRequest): Promise<JsonObject> {
    const own = await this.#listed.find(String(uri), caller);
    const skill = own?.skill ?? (await this.#getOfServer(String(uri), caller));
    if (!skill) throw invalidParams(`Skill ${uri} not found`);
    return { skill, ...cacheFields(modern) };
  }

  /** Null if no server has it. */
  async #getOfServer(uri: string, caller: RequestCaller): Promise<JsonObject | null> {
    const named = this.#ofServer(uri);
    if (!named) return null;
    const reply = await this.#gateway.request(named.server, SKILLS_GET_METHOD, { uri: named.uri }, caller);
    return reply.ok ? throughGateway(named.server, reply.value.skill) : null;
  }

  /** A file of PML's own skills; null for all other resources, those of servers' skills among them. */
  async read(uri: unknown, caller: Pick<Caller, 'who'>): Promise<JsonObject | null> {
    if (typeof uri !== 'string' || !uri.startsWith(SCHEME)) return null;
    const text = await this.#listed.file(uri, caller);
    if (text !== undefined) return { contents: [{ uri, ...mimeTypeOf(uri), text }] };
    if (!this.#ofServer(uri)) throw invalidParams(`Resource ${uri} not found`);
    return null;
  }

  /** The server that the address names, and what it calls the file; null where no such server is attached. */
  #ofServer(uri: string) {
    const named = uri.startsWith(SCHEME) ? parseGatewayUri(uri) : null;
    if (!named || !('server' in named)) return null;
    const { servers } = this.#gateway.settings();
    return servers.some(({ name, disabled }) => name === named.server && !disabled) ? named : null;
  }

  /** For `resources/list`: the manifests, which refer to the other files. */
  async manifests(caller: Pick<Caller, 'who'>): Promise<readonly JsonObject[]> {
    return (await this.#listed.all(caller)).map(manifestOf);
  }

  /** For `resources/templates/list`. */
  template(): JsonObject {
    return { name: SKILLS_EXTENSION_ID, uriTemplate: `${SCHEME}{+path}` };
  }
}

/**
 * A server's skill with addresses that lead through the gateway, the name of its server, and a warning if its description
 * speaks to the model; null if it is not a skill. The rest stays as it is: clients compare it with the manifest.
 */
function throughGateway(server: string, sent: unknown): JsonObject | null {
  const { characters, depth } = weighJson(sent);
  if (characters > DEFAULTS.maxEntry || depth > DEFAULTS.maxDepth) return null;
  const { uri, frontmatter, resources, _meta, ...rest } = (sent ?? {}) as JsonObject;
  const { name, description } = (frontmatter ?? {}) as JsonObject;
  const isSkill = [uri, name, description].every((text) => typeof text === 'string');
  if (!isSkill || !String(uri).startsWith(SCHEME)) return null;
  const files = Array.isArray(resources)
    ? resources.map((file: JsonObject) => ({ ...file, uri: gatewayUri(server, String(file?.uri)) }))
    : resources;
  const warning = warningIn([frontmatter], 'this skill');
  const told = { 'pml/server': server, ...(warning !== null && { 'pml/warning': warning }) };
  return {
    ...rest,
    uri: gatewayUri(server, String(uri)),
    frontmatter,
    resources: files,
    _meta: { ...(_meta as JsonObject | undefined), ...told },
  };
}

function manifestOf({ skill: { uri, frontmatter }, files }: ListedSkill): JsonObject {
  const { name, description } = frontmatter;
  return { uri, name, description, ...mimeTypeOf(uri), size: Buffer.byteLength(files.get(uri) ?? '') };
}

function mimeTypeOf(uri: string): { mimeType?: string } {
  const mimeType = MIME_TYPES[uri.slice(uri.lastIndexOf('.') + 1)];
  return mimeType === undefined ? {} : { mimeType };
}

/** Results of the newer era have a cache lifetime; these may change at any time. */
function cacheFields(modern: boolean): JsonObject {
  return modern ? { ttlMs: 0, cacheScope: 'private' } : {};
}

function encode(uri: string): string {
  return Buffer.from(uri).toString('base64url');
}

function decode(cursor: unknown): string {
  return Buffer.from(String(cursor), 'base64url').toString('utf8');
}

/** A capability as a skill: its entry in the extension, and its files by URI. */
export interface ListedSkill {
  readonly skill: Skill;
  readonly files: ReadonlyMap<string, string>;
}

interface Kept {
  readonly madeFrom: Date;
  readonly listed: ListedSkill | null;
}

const MANIFEST = 'SKILL.md';

/** The active capabilities as Agent Skills, ordered by slug. */
export class ListedSkills {
  readonly #capabilities: () => Gateway['capabilities'];
  readonly #logger: Logger;
  #kept: ReadonlyMap<string, Kept> = new Map();

  constructor(gateway: Gateway, logger: Logger) {
    this.#capabilities = () => gateway.capabilities;
    this.#logger = logger;
  }

  /** All clients get the same ones, but for those that may use only some tools. */
  async all({ who }: Pick<Caller, 'who'>): Promise<readonly ListedSkill[]> {
    const active = (await this.#capabilities().list()).filter(
      (one) => one.state === 'active' && one.visibility === 'shared' && !isUnlisted(one),
    );
    const kept = await Promise.all(active.map(async (one) => [one.id, await this.#keep(one)] as const));
    this.#kept = new Map(kept);
    const isHidden = who && isRestricted(who) ? await this.#hiddenFrom(who) : () => false;
    const all = kept.flatMap(([id, { listed }]) => (isHidden(id) ? [] : (listed ?? [])));
    // Two slugs may yield the same name, and thus the same URI: the first wins.
    const seen = new Set<string>();
    return all.filter(({ skill: { uri } }) => !seen.has(uri) && seen.add(uri));
  }

  async #hiddenFrom(who: Principal): Promise<(id: string) => boolean> {
    const seen = new Set((await this.#capabilities().list({ who })).map(({ id }) => id));
    return (id) => !seen.has(id);
  }

  /** By the URI of its manifest. */
  async find(uri: string, caller: Pick<Caller, 'who'>): Promise<ListedSkill | null> {
    return (await this.all(caller)).find(({ skill }) => skill.uri === uri) ?? null;
  }

  /** A file of any skill; undefined if the URI is unknown. */
  async file(uri: string, caller: Pick<Caller, 'who'>): Promise<string | undefined> {
    const owner = (await this.all(caller)).find(({ files }) => files.has(uri));
    return owner?.files.get(uri);
  }

  /** Rebuilt only when its capability has changed. */
  async #keep(capability: Capability): Promise<Kept> {
    const { id, updatedAt } = capability;
    const known = this.#kept.get(id);
    if (known?.madeFrom.getTime() === updatedAt.getTime()) return known;
    return { madeFrom: updatedAt, listed: await this.#list(capability) };
  }

  /** Null for a capability that is not a valid skill; the others are unaffected. */
  async #list({ slug }: Capability): Promise<ListedSkill | null> {
    try {
      const files = await this.#capabilities().export(slug);
      const skill = await skillEntry(skillFolder(files), files);
      const root = skill.uri.slice(0, -MANIFEST.length);
      const byUri = Object.entries(files).map(([name, text]) => [root + name, text] as const);
      return { skill, files: new Map(byUri) };
    } catch (error) {
      this.#logger.log('warn', `Capability ${slug} is not served as a skill`, { error: String(error) });
      return null;
    }
  }
}
