import { SKILLS_EXTENSION_ID } from '@modelcontextprotocol/server/ext/skills';
import type { Caller } from '../../../engine/gateway.ts';
import type { JsonObject } from '../../../engine/ports.ts';
import type { ClientRequest } from '../endpoint.ts';
import { invalidParams } from '../rpc-error.ts';
import type { ListedSkill, ListedSkills } from './listed-skills.ts';

const DEFAULTS = { pageSize: 100 };

/** The capability of an endpoint with skills. */
export const SKILLS_CAPABILITY = { extensions: { [SKILLS_EXTENSION_ID]: {} } };

const SCHEME = 'skill://';
const MIME_TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  ts: 'text/typescript',
  json: 'application/json',
};

/**
 * Capabilities through MCP's Skills extension (SEP-2640): `skills/list`, `skills/get`, and every file as a
 * resource. The SDK's own handlers need a validating server, so these are ours, with the SDK's entries.
 */
export class Skills {
  readonly #listed: ListedSkills;

  constructor(listed: ListedSkills) {
    this.#listed = listed;
  }

  async list({ params: { cursor }, modern, caller }: ClientRequest): Promise<JsonObject> {
    const all = (await this.#listed.all(caller)).map(({ skill }) => skill);
    const from = cursor === undefined ? 0 : all.findIndex(({ uri }) => uri === decode(cursor)) + 1;
    if (cursor !== undefined && from === 0)
      throw invalidParams('The list has changed; start again without a cursor');
    const skills = all.slice(from, from + DEFAULTS.pageSize);
    const last = from + skills.length < all.length ? skills.at(-1) : undefined;
    return { skills, ...(last && { nextCursor: encode(last.uri) }), ...cacheFields(modern) };
  }

  async get({ params: { uri }, modern, caller }: ClientRequest): Promise<JsonObject> {
    const found = await this.#listed.find(String(uri), caller);
    if (!found) throw invalidParams(`Skill ${uri} not found`);
    return { skill: found.skill, ...cacheFields(modern) };
  }

  /** Whether the URI belongs to a skill; resources of servers have other URIs. */
  owns(uri: unknown): uri is string {
    return String(uri).startsWith(SCHEME);
  }

  async read(uri: string, caller: Pick<Caller, 'who'>): Promise<JsonObject> {
    const text = await this.#listed.file(uri, caller);
    if (text === undefined) throw invalidParams(`Resource ${uri} not found`);
    return { contents: [{ uri, ...mimeTypeOf(uri), text }] };
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
