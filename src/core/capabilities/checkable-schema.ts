import type { Schema, SchemaDraft } from '@cfworker/json-schema';
import { isJsonObject } from '../vocabulary/read-wire.ts';

const DEFAULTS = {
  /** Schemas within schemas; deeper ones accept anything. */
  maxDepth: 32,
  /** Schemas in all; further ones accept anything. */
  maxSchemas: 10_000,
  /** Visits of a schema during one check: a few definitions that refer to each other twice can take hours. */
  maxVisits: 20_000,
};

const ANY = true;
const NOTHING: Schema = { not: {} };

type Reader = (value: unknown, read: (schema: unknown) => unknown) => unknown;

const schema: Reader = (value, read) => read(value);
const schemas: Reader = (value, read) => (Array.isArray(value) ? value.map(read) : undefined);
const schemaMap: Reader = (value, read) =>
  isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, read(one)]))
    : undefined;
const only =
  (isGood: (value: unknown) => boolean): Reader =>
  (value) =>
    isGood(value) ? value : undefined;
const number = only((value) => typeof value === 'number');
const limit = only((value) => typeof value === 'number' || typeof value === 'boolean');
const texts = only((value) => Array.isArray(value) && value.every((one) => typeof one === 'string'));

/**
 * What is checked, and which form it must have. Left out: `pattern`, `patternProperties` and `format`, since a
 * hostile server's regular expression could run for ever and formats are hints; `uniqueItems`, for its cost;
 * `unevaluated…`, which need what is left out. The server itself checks them all.
 */
const KEYWORDS: Readonly<Record<string, Reader>> = {
  $ref: only((value) => typeof value === 'string' && value.startsWith('#')),
  type: only((value) => typeof value === 'string' || Array.isArray(value)),
  const: only(() => true),
  enum: only(Array.isArray),
  required: texts,
  properties: schemaMap,
  $defs: schemaMap,
  definitions: schemaMap,
  dependentSchemas: schemaMap,
  dependentRequired: only((value) => isJsonObject(value) && Object.values(value).every(Array.isArray)),
  additionalProperties: schema,
  propertyNames: schema,
  items: (value, read) => (Array.isArray(value) ? value.map(read) : read(value)),
  prefixItems: schemas,
  additionalItems: schema,
  contains: schema,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema; nobody awaits this table
  then: schema,
  else: schema,
  anyOf: schemas,
  allOf: schemas,
  minimum: number,
  maximum: number,
  exclusiveMinimum: limit,
  exclusiveMaximum: limit,
  multipleOf: number,
  minLength: number,
  maxLength: number,
  minItems: number,
  maxItems: number,
  minContains: number,
  maxContains: number,
  minProperties: number,
  maxProperties: number,
};

/**
 * A copy of a server's schema that can be checked in bounded time, in which what is broken accepts anything.
 * Checking it throws once it has taken too long.
 */
export function checkableSchema(given: unknown): Schema | boolean {
  let copies = DEFAULTS.maxSchemas;
  let visits = DEFAULTS.maxVisits;
  return read(given, 0) as Schema | boolean;

  function read(value: unknown, depth: number): unknown {
    if (value === false) return countVisits({ ...NOTHING });
    if (!isJsonObject(value) || depth > DEFAULTS.maxDepth || --copies < 0) return ANY;
    const copy: Record<string, unknown> = {};
    for (const [keyword, reader] of Object.entries(KEYWORDS)) {
      if (!Object.hasOwn(value, keyword) || value[keyword] === undefined) continue;
      const checked = reader(value[keyword], (inner) => read(inner, depth + 1));
      if (checked !== undefined) copy[keyword] = checked;
    }
    // Names that only a pattern allows are not told apart from unknown ones.
    if (isJsonObject(value.patternProperties)) delete copy.additionalProperties;
    // Forms overlap more often than their authors think, and servers seldom mind.
    if (Array.isArray(value.oneOf)) {
      const anyOf = value.oneOf.map((inner) => read(inner, depth + 1));
      copy.allOf = [...((copy.allOf as unknown[]) ?? []), countVisits({ anyOf })];
    }
    // OpenAPI's way of saying `or null`.
    if (value.nullable === true)
      return countVisits({ anyOf: [countVisits({ type: 'null' }), countVisits(copy)] });
    return countVisits(copy);
  }

  /** The validator reads this keyword, which is otherwise unused, once for each schema it visits. */
  function countVisits(copy: object): object {
    return Object.defineProperty(copy, '$recursiveAnchor', {
      get() {
        if (--visits < 0) throw new RangeError('This schema takes too long to check');
        return undefined;
      },
    });
  }
}

/** MCP's default is 2020-12; lists of `items` tell an older schema that does not say what it is. */
export function draftOf(given: unknown): SchemaDraft {
  const stated = isJsonObject(given) && typeof given.$schema === 'string' ? given.$schema : '';
  if (stated.includes('draft-04') || stated.includes('draft-03')) return '4';
  if (stated.includes('draft-0')) return '7';
  return stated.includes('2019-09') ? '2019-09' : '2020-12';
}
