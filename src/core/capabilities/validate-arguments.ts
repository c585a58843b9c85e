import { type OutputUnit, Validator } from '@cfworker/json-schema';
import { isJsonObject } from '../vocabulary/read-wire.ts';
import { checkableSchema, draftOf } from './checkable-schema.ts';

const DEFAULTS = {
  /** Problems told at once. */
  maxProblems: 10,
  /** Characters of a list of allowed values. */
  maxValues: 200,
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
