import { type OutputUnit, type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema';
import { isJsonObject } from '../vocabulary/read-wire.ts';

const DEFAULTS = {
  /** Problems told at once. */
  maxProblems: 10,
  /** Characters of a list of allowed values. */
  maxValues: 200,
  /** Schemas within schemas; deeper ones accept anything. */
  maxDepth: 32,
  /** Schemas in all; further ones accept anything. */
  maxSchemas: 10_000,
  /** Visits of a schema during one check: a few definitions that refer to each other twice can take hours. */
  maxVisits: 20_000,
};

/** They only say that something within failed, which is told by itself. */
const CONTAINERS = new Set(
  'properties additionalProperties items prefixItems additionalItems allOf $ref if dependentSchemas'.split(
    ' ',
  ),
);

/** The schema that is checked and the value, to look up what a problem is about. */
interface Checked {
  readonly schema: unknown;
  readonly value: unknown;
}

/**
 * What is wrong with a value by a JSON schema of any draft, in plain words with the place: `"limit" must be a
 * number, not a string`. Only what is surely wrong is told; a schema that is broken or takes too long to check
 * finds nothing. The words come from the schema and the value, never from the validator's own messages.
 */
export function checkArguments(schema: unknown, value: unknown): string[] {
  try {
    const checked = { schema: checkableSchema(schema), value: bareCopy(value) };
    const validator = new Validator(checked.schema, draftOf(schema), false);
    const { errors } = validator.validate(checked.value);
    const found = errors.filter((unit) => !CONTAINERS.has(unit.keyword) && !isWithinChoice(unit, errors));
    const problems = found.filter((unit) => !isUnknownName(unit) || !isToldOtherwise(unit, found));
    return [...new Set(problems.flatMap((unit) => tell(unit, errors, checked)))].slice(
      0,
      DEFAULTS.maxProblems,
    );
  } catch {
    return [];
  }
}

/**
 * The arguments with defaults in place of what is missing. What must be given is left missing, so that it is
 * asked for.
 */
export function applyDefaults(schema: unknown, args: unknown): unknown {
  if (!isJsonObject(args) || !isJsonObject(schema) || !isJsonObject(schema.properties)) return args;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const missing = Object.entries(schema.properties).flatMap(([name, property]) => {
    const isFilled = isJsonObject(property) && Object.hasOwn(property, 'default') && !required.includes(name);
    return isFilled && args[name] === undefined ? [[name, property.default]] : [];
  });
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...missing, ...given]);
}

/** As JSON has it, and without a prototype: the validator takes what an object inherits for given. */
function bareCopy(value: unknown): unknown {
  const json = JSON.stringify(value) ?? 'null';
  return JSON.parse(json, (_, one) => (isJsonObject(one) ? Object.assign(Object.create(null), one) : one));
}

/** Of several forms none fits: why each does not is more than one wants to know. */
function isWithinChoice({ keywordLocation }: OutputUnit, errors: readonly OutputUnit[]): boolean {
  return errors.some(
    ({ keyword, keywordLocation: choice }) => keyword === 'anyOf' && keywordLocation.startsWith(`${choice}/`),
  );
}

function isUnknownName({ keyword, keywordLocation }: OutputUnit): boolean {
  return keyword === 'not' && keywordLocation.endsWith('/additionalProperties/not');
}

/** The validator calls a known argument with a wrong value unknown as well. */
function isToldOtherwise(unit: OutputUnit, found: readonly OutputUnit[]): boolean {
  const place = unit.instanceLocation;
  return found.some(
    (other) =>
      other !== unit &&
      !isUnknownName(other) &&
      (other.instanceLocation === place || other.instanceLocation.startsWith(`${place}/`)),
  );
}

function tell(unit: OutputUnit, errors: readonly OutputUnit[], checked: Checked): string[] {
  const { keyword, keywordLocation, instanceLocation } = unit;
  const value = valueAt(checked.value, instanceLocation);
  const place = placeOf(instanceLocation);
  const subject = place === '' ? '' : `"${place}" `;
  const within = place === '' ? '' : `${place}.`;
  const asked = askedBy(unit, checked.schema);
  switch (keyword) {
    case 'required':
      return missingFrom(value, asked).map((name) => `"${within}${name}" is missing`);
    case 'dependentRequired':
      return Object.entries(asked as Record<string, unknown>)
        .filter(([name]) => isJsonObject(value) && Object.hasOwn(value, name))
        .flatMap(([name, others]) =>
          missingFrom(value, others).map(
            (other) => `"${within}${other}" is missing: "${within}${name}" needs it`,
          ),
        );
    case 'type':
      return [`${subject}${tellType([asked].flat(), value)}`];
    case 'anyOf': {
      const own = errors.filter(
        (other) =>
          other.instanceLocation === instanceLocation &&
          other.keywordLocation.startsWith(`${keywordLocation}/`),
      );
      const isAllTypes = own.length > 0 && own.every((other) => other.keyword === 'type');
      const types = own.flatMap((other) => askedBy(other, checked.schema));
      return [`${subject}${isAllTypes ? tellType(types, value) : 'fits none of the forms it may have'}`];
    }
    case 'enum':
      return [`${subject}must be one of ${shortJson(asked).replace(/^\[|\]$/g, '')}`];
    case 'not':
      return [isUnknownName(unit) ? `${subject}is unknown` : `${subject}is not allowed`];
    default:
      return [`${subject}${RULES[keyword]?.(shortJson(asked)) ?? `does not satisfy "${keyword}"`}`];
  }
}

/** What each rule asks for; the limit is what the schema says. */
const RULES: Readonly<Record<string, (limit: string) => string>> = {
  const: (limit) => `must be ${limit}`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be more than ${limit}`,
  exclusiveMaximum: (limit) => `must be less than ${limit}`,
  multipleOf: (limit) => `must be a multiple of ${limit}`,
  minLength: (limit) => `must have at least ${limit} characters`,
  maxLength: (limit) => `must have at most ${limit} characters`,
  minItems: (limit) => `must have at least ${limit} items`,
  maxItems: (limit) => `must have at most ${limit} items`,
  minProperties: (limit) => `must have at least ${limit} properties`,
  maxProperties: (limit) => `must have at most ${limit} properties`,
  contains: () => 'has no item of the required form',
  minContains: (limit) => `must have at least ${limit} items of the required form`,
  maxContains: (limit) => `must have at most ${limit} items of the required form`,
  propertyNames: () => 'has a name that is not allowed',
};

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'a boolean',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function tellType(expected: readonly unknown[], value: unknown): string {
  const names = [...new Set(expected)].map((type) => TYPE_NAMES[String(type)] ?? `"${type}"`);
  const given = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  // 1.5 is a number, and so is what was asked for.
  const isFraction = given === 'number' && expected.includes('integer');
  return `must be ${names.join(' or ')}, not ${isFraction ? 'a fraction' : (TYPE_NAMES[given] ?? given)}`;
}

function missingFrom(value: unknown, names: unknown): string[] {
  if (!isJsonObject(value) || !Array.isArray(names)) return [];
  return names.map(String).filter((name) => !Object.hasOwn(value, name));
}

function shortJson(value: unknown): string {
  const json = JSON.stringify(value) ?? '';
  return json.length > DEFAULTS.maxValues ? `${json.slice(0, DEFAULTS.maxValues)}…` : json;
}

/** What the schema has at the keyword of a problem. The validator misspells some keywords in locations. */
function askedBy({ keyword, keywordLocation }: OutputUnit, root: unknown): unknown {
  const holder = schemaAt(root, keywordLocation.slice(0, keywordLocation.lastIndexOf('/')));
  return (holder as Record<string, unknown>)[keyword];
}

/** A location leads through references, which start again at the root. */
function schemaAt(root: unknown, location: string): unknown {
  return partsOf(location).reduce<unknown>((schema, part) => {
    const next = (schema as Record<string, unknown>)[part];
    return part === '$ref' ? schemaAt(root, String(next)) : next;
  }, root);
}

function valueAt(root: unknown, location: string): unknown {
  return partsOf(location).reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], root);
}

/** Of a JSON pointer in a URI fragment: `#/items/0/file~1name`. */
function partsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURI(part).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** `#/items/0/file~1name` -> `items[0].file/name`. */
function placeOf(pointer: string): string {
  return partsOf(pointer).reduce((place, part) => {
    if (/^\d+$/.test(part)) return `${place}[${part}]`;
    return place === '' ? part : `${place}.${part}`;
  }, '');
}

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
function checkableSchema(given: unknown): Schema | boolean {
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
function draftOf(given: unknown): SchemaDraft {
  const stated = isJsonObject(given) && typeof given.$schema === 'string' ? given.$schema : '';
  if (stated.includes('draft-04') || stated.includes('draft-03')) return '4';
  if (stated.includes('draft-0')) return '7';
  return stated.includes('2019-09') ? '2019-09' : '2020-12';
}
