import { createHash } from 'node:crypto';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { isJsonObject, type JsonObject } from '../../core/vocabulary/read-wire.ts';
import { oneLine } from '../../core/vocabulary/text.ts';
import type { OpenApiSettings, UpstreamTool } from '../../engine/ports.ts';
import type { OpenApiDocument } from './openapi-document.ts';

const DEFAULTS = {
  /** Operations of one document: more than an agent could choose from. */
  operations: 2_000,
  /** Parameters of one operation. */
  parameters: 200,
  /** Characters of a tool's name, and of the hash in one that would be too long or has a double. */
  name: 64,
  hash: 8,
  /** Characters of a description, and of a title. */
  description: 2_000,
  title: 200,
  /** Operations left out that are reported one by one; the rest are counted. */
  notes: 10,
};

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;
const PLACES = ['path', 'query', 'header', 'cookie'] as const;
/** Not an agent's to choose: who asks, for what, and how the connection is used. */
const OUR_HEADERS = new Set(
  'accept authorization connection content-length content-type cookie expect host keep-alive origin proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);
/** Bodies, the first that an operation accepts; anything else is sent as bytes. */
const BODIES: readonly (readonly [RegExp, BodyKind])[] = [
  [/^application\/(?:[\w.-]{1,100}\+)?json\b/i, 'json'],
  [/^application\/x-www-form-urlencoded\b/i, 'form'],
  [/^multipart\/form-data\b/i, 'multipart'],
  [/^text\/|^application\/(?:[\w.-]{1,100}\+)?xml\b/i, 'text'],
];

export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

export interface ApiParameter {
  readonly name: string;
  readonly place: (typeof PLACES)[number];
  /** What the tool calls it. */
  readonly argument: string;
  readonly isRequired: boolean;
  readonly style: string;
  readonly isExploded: boolean;
  /** Described by a media type: one JSON text. */
  readonly isJson: boolean;
}

/** An operation of the document, and the tool made of it. */
export interface ApiOperation {
  readonly tool: UpstreamTool;
  readonly method: string;
  readonly path: string;
  /** Its address is within the allowed ones. */
  readonly base: URL;
  readonly parameters: readonly ApiParameter[];
  readonly body: { readonly argument: string; readonly type: string; readonly kind: BodyKind } | null;
}

/** The operations of a document as tools, and notes about those left out. */
export function toolsOf(
  document: OpenApiDocument,
  settings: OpenApiSettings,
): { readonly operations: readonly ApiOperation[]; readonly notes: readonly string[] } {
  const { root } = document;
  const found: { name: string; where: string; operation: Omit<ApiOperation, 'tool'>; tool: JsonObject }[] =
    [];
  const problems: string[] = [];
  for (const [path, item] of Object.entries(isJsonObject(root.paths) ? root.paths : {})) {
    const pathItem = document.follow(item);
    if (!pathItem) continue;
    for (const method of METHODS) {
      const said = pathItem[method];
      if (!isJsonObject(said)) continue;
      const where = `${method.toUpperCase()} ${path}`;
      if (found.length >= DEFAULTS.operations) {
        problems.push(`${where}: only ${DEFAULTS.operations} operations are used`);
        continue;
      }
      const made = operationOf({ document, settings, pathItem, said, path, method });
      if (typeof made === 'string') problems.push(`${where}: ${made}`);
      else found.push({ name: plainName(said.operationId, method, path), where, ...made });
    }
  }
  const shown = problems.slice(0, DEFAULTS.notes).map((problem) => `Left out ${problem}`);
  const more = problems.length - shown.length;
  const uses = Map.groupBy(found, ({ name }) => name.toLowerCase());
  return {
    operations: found.map(({ name, where, operation, tool }) => {
      const isOnly = uses.get(name.toLowerCase())!.length === 1 && name.length <= DEFAULTS.name;
      return { ...operation, tool: { name: isOnly ? name : hashed(name, where), ...tool } };
    }),
    notes: more > 0 ? [...shown, `Left out ${more} more operations`] : shown,
  };
}

/** Of what the document calls it, or of its method and path: the same whatever else the document has. */
function plainName(id: unknown, method: string, path: string): string {
  const given = typeof id === 'string' ? id : '';
  const plain = (text: string) =>
    text
      .slice(0, 512)
      .split(/[^A-Za-z0-9-]+/)
      .filter(Boolean)
      .join('_');
  return plain(given) || plain(`${method} ${path}`) || method;
}

function hashed(name: string, where: string): string {
  const hash = createHash('sha256').update(where).digest('hex').slice(0, DEFAULTS.hash);
  return `${name.slice(0, DEFAULTS.name - DEFAULTS.hash - 1)}_${hash}`;
}

interface OperationSource {
  readonly document: OpenApiDocument;
  readonly settings: OpenApiSettings;
  readonly pathItem: JsonObject;
  readonly said: JsonObject;
  readonly path: string;
  readonly method: (typeof METHODS)[number];
}

/** A text says why it cannot be used. */
function operationOf(
  source: OperationSource,
): { operation: Omit<ApiOperation, 'tool'>; tool: JsonObject } | string {
  const { document, settings, pathItem, said, path, method } = source;
  if (!path.startsWith('/') || path.length > 2_000) return 'its path does not begin with "/"';
  const base = baseOf(source);
  if (typeof base === 'string') return base;
  const fixed = new Set([
    ...Object.keys(settings.headers).map((name) => `header ${name.toLowerCase()}`),
    ...[...base.searchParams.keys()].map((name) => `query ${name}`),
  ]);
  const properties = new Map<string, JsonObject>();
  const required: string[] = [];
  const parameters: ApiParameter[] = [];
  const declared = parametersOf(document, path, pathItem.parameters, said.parameters);
  if (typeof declared === 'string') return declared;
  for (const { name, place, parameter } of declared) {
    const key = place === 'header' ? name.toLowerCase() : name;
    if (fixed.has(`${place} ${key}`) || (place === 'header' && OUR_HEADERS.has(key))) continue;
    const content = isJsonObject(parameter.content) ? Object.values(parameter.content)[0] : undefined;
    const style = typeof parameter.style === 'string' ? parameter.style : STYLES[place];
    if (place === 'path' && style !== 'simple') return `the style "${style.slice(0, 40)}" of its path`;
    const argument = properties.has(name) || name === 'body' ? `${name}_${place}` : name;
    if (properties.has(argument)) return `it has two parameters "${name.slice(0, 100)}"`;
    const isRequired = place === 'path' || parameter.required === true;
    const schema = (content === undefined ? parameter.schema : document.follow(content)?.schema) ?? {};
    properties.set(argument, described(schema, parameter.description));
    if (isRequired) required.push(argument);
    parameters.push({
      name,
      place,
      argument,
      isRequired,
      style,
      isExploded: typeof parameter.explode === 'boolean' ? parameter.explode : style === 'form',
      isJson: content !== undefined,
    });
  }
  const body = bodyOf(document, said.requestBody);
  if (typeof body === 'string') return body;
  if (body) properties.set('body', body.schema);
  if (body?.isRequired) required.push('body');
  return {
    operation: {
      method: method.toUpperCase(),
      path,
      base,
      parameters,
      body: body && { argument: 'body', type: body.type, kind: body.kind },
    },
    tool: {
      ...(typeof said.summary === 'string' && { title: said.summary.slice(0, DEFAULTS.title) }),
      description: descriptionOf(said, pathItem, `${method.toUpperCase()} ${path}`),
      inputSchema: document.inputSchema(properties, required),
      annotations: ANNOTATIONS[method],
    },
  };
}

const STYLES = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const;

/** What a method promises (RFC 9110, section 9.2); POST and PATCH promise nothing. */
const ANNOTATIONS: Readonly<Record<(typeof METHODS)[number], JsonObject>> = {
  get: { readOnlyHint: true },
  head: { readOnlyHint: true },
  options: { readOnlyHint: true },
  post: { readOnlyHint: false },
  put: { readOnlyHint: false, idempotentHint: true },
  patch: { readOnlyHint: false },
  delete: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

function descriptionOf(said: JsonObject, { description: shared }: JsonObject, where: string): string {
  const texts = [said.summary, said.description ?? shared].filter((text) => typeof text === 'string');
  const [first = '', second = ''] = texts.map((text) => text.slice(0, DEFAULTS.description).trim());
  const whole = second.startsWith(first) ? second : [first, second].filter(Boolean).join('\n');
  const cut = whole.slice(0, DEFAULTS.description).toWellFormed();
  const old = said.deprecated === true ? 'Deprecated. ' : '';
  return `${old}${cut}${cut === '' ? '' : '\n'}${where.slice(0, 300)}`;
}

/** The description of a parameter is that of its schema, which an agent reads. */
function described(schema: unknown, description: unknown): JsonObject {
  const own = isJsonObject(schema) ? schema : {};
  return typeof description === 'string' && description !== '' ? { ...own, description } : own;
}

/** Those of the operation replace those of its path; one that only the path names is added. */
function parametersOf(document: OpenApiDocument, path: string, ...lists: unknown[]) {
  const declared = new Map<string, { name: string; place: ApiParameter['place']; parameter: JsonObject }>();
  for (const one of lists.flatMap((list) => (Array.isArray(list) ? list : []))) {
    const parameter = document.follow(one);
    if (!parameter) return 'a parameter is described elsewhere';
    const { name } = parameter;
    const place = PLACES.find((known) => known === parameter.in);
    if (typeof name !== 'string' || name === '' || name.length > 200 || !place)
      return 'a parameter has no name or no place';
    if (place === 'path' && !path.includes(`{${name}}`)) continue;
    declared.set(`${place} ${name}`, { name, place, parameter });
    if (declared.size > DEFAULTS.parameters) return `it has more than ${DEFAULTS.parameters} parameters`;
  }
  for (const [, name = ''] of path.matchAll(/\{([^{}]{1,200})\}/g)) {
    const key = `path ${name}`;
    if (!declared.has(key))
      declared.set(key, { name, place: 'path', parameter: { schema: { type: 'string' } } });
  }
  return [...declared.values()].sort((one, other) => PLACES.indexOf(one.place) - PLACES.indexOf(other.place));
}

function bodyOf(document: OpenApiDocument, said: unknown) {
  if (said === undefined) return null;
  const body = document.follow(said);
  if (!body) return 'its body is described elsewhere';
  const content = Object.entries(isJsonObject(body.content) ? body.content : {});
  if (content.length === 0) return null;
  for (const [pattern, kind] of BODIES) {
    const [type, media] = content.find(([name]) => pattern.test(name.slice(0, 200))) ?? [];
    if (type === undefined) continue;
    const schema = kind === 'text' ? { type: 'string' } : ((media as JsonObject | null)?.schema ?? {});
    return { type, kind, schema: described(schema, body.description), isRequired: body.required === true };
  }
  const [type, media] = content[0]!;
  const schema = document.follow((media as JsonObject | null)?.schema) ?? {};
  const kind: BodyKind = schema.type === 'string' && schema.format !== 'binary' ? 'text' : 'bytes';
  const text = kind === 'text' ? { type: 'string' } : { type: 'string', contentEncoding: 'base64' };
  return { type, kind, schema: described(text, body.description), isRequired: body.required === true };
}

/**
 * Where the operation is: at an address that the configuration allows, or at the one it gives. A document cannot send an
 * agent, and its credentials, elsewhere.
 */
function baseOf({ document, settings, pathItem, said }: OperationSource): URL | string {
  const given = settings.url === null ? null : new URL(settings.url);
  const own = said.servers ?? pathItem.servers ?? (given ? undefined : document.root.servers);
  const urls = serverUrls(own, settings.url);
  const allowed = urls.find((url) => settings.origins.includes(url.origin)) ?? given;
  // The configuration's query may hold a key.
  if (allowed && given) allowed.search = given.search;
  if (allowed) return allowed;
  const named = urls.map(({ origin }) => origin).slice(0, 3);
  return named.length === 0
    ? 'the document does not say where it is; set "url"'
    : `it is at ${named.join(', ')}, which "origins" does not allow`;
}

/** The entry of the configuration that a document means: its own addresses are allowed once a person has seen them. */
export function entryOfApi(
  file: string,
  { root }: OpenApiDocument,
  {
    url,
    headers,
  }: { readonly url: string | undefined; readonly headers: Readonly<Record<string, string>> | undefined },
): { name: string; entry: JsonObject; notes: string[] } {
  const { title } = isJsonObject(root.info) ? root.info : {};
  const origins = [...new Set(serverUrls(root.servers, null).map(({ origin }) => origin))];
  const schemes = Object(isJsonObject(root.components) ? root.components.securitySchemes : {});
  const notes = Object.values(schemes).slice(0, 10).filter(isJsonObject).map(keyNote);
  if (url === undefined && origins.length === 0)
    throw new PmlError('invalid_argument', `${file} does not say where the API is`, {
      hint: 'Add --url with its address.',
    });
  return {
    name: plainName(title, 'api', '').slice(0, 40).toLowerCase(),
    entry: { openapi: file, ...(url === undefined ? { origins } : { url }), ...(headers && { headers }) },
    notes: headers ? [] : notes,
  };
}

function keyNote({ type, in: place, name, scheme }: JsonObject): string {
  const text = (value: unknown) => oneLine(value, 100);
  if (type === 'apiKey' && place === 'header')
    return `The API takes a key: --header '${text(name)}=\${KEY}'.`;
  if (type === 'apiKey' && place === 'query')
    return `The API takes a key: --url 'ADDRESS?${text(name)}=\${KEY}'.`;
  const how = type === 'http' && text(scheme).toLowerCase() === 'basic' ? 'Basic' : 'Bearer';
  return `The API takes credentials (${text(type)}): --header 'Authorization=${how} \${TOKEN}'.`;
}

/** Absolute addresses of a list of servers, with the defaults of their variables. */
function serverUrls(servers: unknown, base: string | null): URL[] {
  const urls: URL[] = [];
  for (const server of Array.isArray(servers) ? servers.slice(0, 20) : []) {
    if (!isJsonObject(server) || typeof server.url !== 'string') continue;
    const variables = isJsonObject(server.variables) ? server.variables : {};
    const text = server.url.slice(0, 2_000).replace(/\{([^{}]{1,100})\}/g, (written, name: string) => {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
      return isJsonObject(variable) && typeof variable.default === 'string' ? variable.default : written;
    });
    const absolute = text.startsWith('//') ? `https:${text}` : text;
    const url = URL.parse(absolute, base ?? undefined);
    if (url?.protocol === 'https:' || url?.protocol === 'http:') urls.push(url);
  }
  return urls;
}
