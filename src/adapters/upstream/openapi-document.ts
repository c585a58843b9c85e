import { readFile, stat } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import { isJsonObject, type JsonObject, weighJson } from '../../core/vocabulary/read-wire.ts';

const DEFAULTS = {
  /** Bytes of a document; YAML takes some twenty times as long to read as JSON. */
  jsonBytes: 16 * 1024 * 1024,
  yamlBytes: 2 * 1024 * 1024,
  /** Levels of a document, and of one schema. */
  depth: 200,
  schemaDepth: 40,
  /** References that lead to another reference. */
  hops: 16,
  /** Schemas looked at for one tool, and for all tools of a document; further ones accept anything. */
  visits: 20_000,
  allVisits: 2_000_000,
  /** Characters of the schemas that one tool shares with others; further ones accept anything. */
  shared: 48 * 1024,
  /** Characters of one description. */
  description: 1_000,
};

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE = new Set(
  'items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties'.split(
    ' ',
  ),
);
const SEVERAL = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const NAMED = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Of OpenAPI alone, or of no use to a caller; own definitions could shadow those that are added. */
const LEFT_OUT = new Set(
  'nullable example examples discriminator xml externalDocs $schema $id $anchor $defs definitions'.split(' '),
);

/** An OpenAPI 3 document. References are followed within it only: a document names no other file or address. */
export class OpenApiDocument {
  readonly root: JsonObject;
  #visits = 0;

  private constructor(root: JsonObject) {
    this.root = root;
  }

  /** Apart from the version, what the document says is not checked here. */
  static of(file: string, root: JsonObject): OpenApiDocument {
    const version = root.openapi ?? root.swagger;
    if (typeof root.openapi === 'string' && root.openapi.startsWith('3.')) return new OpenApiDocument(root);
    const what = version === undefined ? 'it does not say which' : `it is version ${String(version)}`;
    throw unusable(file, `PML reads OpenAPI 3, and ${what.slice(0, 100)}`);
  }

  /** The object, or the one it refers to; null if that is elsewhere or absent. */
  follow(value: unknown): JsonObject | null {
    let at = value;
    for (let hop = 0; hop < DEFAULTS.hops; hop++) {
      if (!isJsonObject(at)) return null;
      if (typeof at.$ref !== 'string') return at;
      at = this.#target(at.$ref);
    }
    return null;
  }

  /** The value a JSON pointer of this document leads to (RFC 6901). */
  #target(ref: string): unknown {
    if (!ref.startsWith('#/')) return undefined;
    let at: unknown = this.root;
    for (const step of ref.slice(2).split('/')) {
      const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Record<string, unknown>)[key];
    }
    return at;
  }

  /**
   * One JSON Schema of these: an object of `properties`, with the schemas they share under `$defs`, the nearest first
   * as long as there is room.
   */
  inputSchema(properties: ReadonlyMap<string, JsonObject>, required: readonly string[]): JsonObject {
    const shared = new Map<string, string>();
    const names = new Set<string>();
    let left = DEFAULTS.visits;

    const nameOf = (ref: string): string | null => {
      const known = shared.get(ref);
      if (known !== undefined) return known;
      const target = this.#target(ref);
      if (!isJsonObject(target)) return null;
      const plain = (ref.split('/').at(-1) ?? '').replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
      let name = plain;
      for (let more = 2; names.has(name); more++) name = `${plain}_${more}`;
      names.add(name);
      shared.set(ref, name);
      return name;
    };

    const convert = (schema: unknown, depth: number): unknown => {
      if (typeof schema === 'boolean') return schema;
      if (!isJsonObject(schema) || depth > DEFAULTS.schemaDepth) return {};
      if (--left < 0 || ++this.#visits > DEFAULTS.allVisits) return {};
      if (typeof schema.$ref === 'string') {
        const name = nameOf(schema.$ref);
        const said = typeof schema.description === 'string' ? { description: cut(schema.description) } : {};
        return name === null ? said : { $ref: `#/$defs/${name}`, ...said };
      }
      const made: Record<string, unknown> = {};
      for (const [key, value] of Object.entries(schema)) {
        if (LEFT_OUT.has(key) || key.startsWith('x-')) continue;
        if (ONE.has(key)) made[key] = convert(value, depth + 1);
        else if (SEVERAL.has(key) && Array.isArray(value))
          made[key] = value.map((one) => convert(one, depth + 1));
        else if (NAMED.has(key) && isJsonObject(value)) made[key] = each(value, depth);
        else made[key] = key === 'description' && typeof value === 'string' ? cut(value) : value;
      }
      return asJsonSchema(made, schema);
    };
    const each = (schemas: JsonObject, depth: number) =>
      Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, convert(one, depth + 1)]));

    const own = [...properties].map(([name, schema]) => [name, convert(schema, 0)]);
    const defs: Record<string, unknown> = {};
    let room = DEFAULTS.shared;
    // Converting one may add to the map, behind those that wait.
    for (const [ref, name] of shared) {
      const made = room > 0 ? convert(this.#target(ref), 0) : {};
      room -= weighJson(made).characters;
      defs[name] = room > 0 ? made : {};
    }
    return {
      type: 'object',
      properties: Object.fromEntries(own),
      ...(required.length > 0 && { required }),
      ...(shared.size > 0 && { $defs: defs }),
    };
  }
}

/** Up to 3.0, OpenAPI had its own words for null and for bounds that are excluded. */
function asJsonSchema(made: Record<string, unknown>, { nullable }: JsonObject): JsonObject {
  const { type } = made;
  if (nullable === true && typeof type === 'string') made.type = [type, 'null'];
  if (nullable === true && Array.isArray(made.enum) && !made.enum.includes(null))
    made.enum = [...made.enum, null];
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof made[flag] !== 'boolean') continue;
    const isExcluded = made[flag];
    delete made[flag];
    if (!isExcluded || made[bound] === undefined) continue;
    made[flag] = made[bound];
    delete made[bound];
  }
  return made;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function cut(text: string): string {
  return text.length <= DEFAULTS.description
    ? text
    : `${text.slice(0, DEFAULTS.description - 1).toWellFormed()}…`;
}

/** A bounded object from a file, in JSON or YAML. */
export async function readDocument(file: string): Promise<JsonObject> {
  const isYaml = /\.ya?ml$/i.test(file);
  const limit = isYaml ? DEFAULTS.yamlBytes : DEFAULTS.jsonBytes;
  let root: unknown;
  try {
    const { size } = await stat(file);
    if (size > limit) throw new RangeError(`it has ${size} bytes; the maximum is ${limit}`);
    const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
    root = isYaml ? parseYaml(text) : JSON.parse(text);
  } catch (cause) {
    throw unusable(file, (cause as Error).message.split('\n', 1)[0] ?? '', cause);
  }
  if (!isJsonObject(root)) throw unusable(file, 'it is not an object');
  if (weighJson(root).depth > DEFAULTS.depth)
    throw unusable(file, `it is nested more than ${DEFAULTS.depth} levels deep`);
  return root;
}

function unusable(file: string, why: string, cause?: unknown): PmlError {
  return new PmlError('config_invalid', `The document ${file} cannot be used: ${why}`, {
    hint: 'It should be an OpenAPI 3 document, or the description of a server from a registry.',
    cause,
  });
}
