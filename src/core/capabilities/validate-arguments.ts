import { type OutputUnit, Validator } from '@cfworker/json-schema';
import { checkableSchema, draftOf } from './checkable-schema.ts';
import { isJsonObject } from './json-object.ts';

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

/**
 * What is wrong with a value by a JSON schema of any draft, in plain words with the place: `"limit" must be a
 * number, not a string`. Only what is surely wrong is told; a schema that is broken or takes too long to check
 * finds nothing.
 */
export function checkArguments(schema: unknown, value: unknown): string[] {
  try {
    const validator = new Validator(checkableSchema(schema), draftOf(schema), false);
    const { errors } = validator.validate(bareCopy(value));
    const found = errors.filter((unit) => !CONTAINERS.has(unit.keyword) && !isWithinChoice(unit, errors));
    const problems = found.filter((unit) => !isUnknownName(unit) || !isToldOtherwise(unit, found));
    return [...new Set(problems.map((unit) => tell(unit, errors)))].slice(0, DEFAULTS.maxProblems);
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

function tell(unit: OutputUnit, errors: readonly OutputUnit[]): string {
  const { keyword, error, instanceLocation } = unit;
  const place = placeOf(instanceLocation);
  const subject = place === '' ? '' : `"${place}" `;
  switch (keyword) {
    case 'required': {
      const name = within(error, 'required property "', '".');
      return `"${place === '' ? '' : `${place}.`}${name}" is missing`;
    }
    case 'type':
      return `${subject}${tellType([unit])}`;
    case 'anyOf': {
      const own = errors.filter(
        (other) =>
          other.instanceLocation === instanceLocation &&
          other.keywordLocation.startsWith(`${unit.keywordLocation}/`),
      );
      const isAllTypes = own.length > 0 && own.every((other) => other.keyword === 'type');
      return `${subject}${isAllTypes ? tellType(own) : 'fits none of the forms it may have'}`;
    }
    case 'enum': {
      const values = within(error, 'any of [', '].');
      const { maxValues } = DEFAULTS;
      return `${subject}must be one of ${values.length > maxValues ? `${values.slice(0, maxValues)}…` : values}`;
    }
    case 'not':
      return isUnknownName(unit) ? `${subject}is unknown` : `${subject}is not allowed`;
    default:
      return `${subject}is refused: ${error.replace(/\.$/, '')}`;
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'a boolean',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function tellType(units: readonly OutputUnit[]): string {
  const [first] = units;
  const expected = units.flatMap(({ error }) => within(error, ' is invalid. Expected "', '".').split('", "'));
  const names = [...new Set(expected.filter((type) => type !== ''))].map(
    (type) => TYPE_NAMES[type] ?? `"${type}"`,
  );
  const given = first ? within(first.error.split(' is invalid. ')[0]!, 'Instance type "', '"') : '';
  // 1.5 is a number, and so is what was asked for.
  const isFraction = given === 'number' && expected.includes('integer');
  return `must be ${names.join(' or ')}, not ${isFraction ? 'a fraction' : (TYPE_NAMES[given] ?? given)}`;
}

/** What stands after the first `start`, up to the `end` that the text ends with. */
function within(text: string, start: string, end: string): string {
  const at = text.indexOf(start);
  return at === -1 || !text.endsWith(end) ? '' : text.slice(at + start.length, -end.length);
}

/** `#/items/0/file~1name` -> `items[0].file/name`. */
function placeOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => decodeURI(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((place, part) => {
      if (/^\d+$/.test(part)) return `${place}[${part}]`;
      return place === '' ? part : `${place}.${part}`;
    }, '');
}
