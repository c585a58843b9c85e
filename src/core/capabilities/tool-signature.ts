import type { ToolDefinition } from '../vocabulary/tool-definition.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { commentText } from './one-line.ts';

const DEFAULTS = {
  /** Characters of a description. */
  maxDescription: 200,
  /** Types within types; deeper ones are `unknown`. */
  maxDepth: 6,
  /** Types in all; further ones are `unknown`. */
  maxTypes: 200,
  /** Members of an object or a union that are written out. */
  maxMembers: 40,
  /** Characters of a description. */
  maxComment: 60,
  /** Characters of one literal type. */
  maxLiteral: 100,
};

const OBSERVED = ' // output type observed, not declared';

/**
 * How a tool is called in code, as TypeScript. A tool that declares no output has the type of what it gave so
 * far, and says so.
 */
export function toolSignature(
  tool: Pick<ToolDefinition, 'server' | 'name' | 'description' | 'inputSchema' | 'outputSchema'>,
  observedOutput?: unknown,
): string {
  const isDeclared = tool.outputSchema !== undefined && tool.outputSchema !== null;
  return signature(`mcp${member(tool.server)}${member(tool.name)}`, {
    description: tool.description,
    parameters: tool.inputSchema,
    output: isDeclared ? tool.outputSchema : observedOutput,
    isObserved: !isDeclared,
  });
}

export function capabilitySignature(capability: {
  readonly slug: string;
  readonly description: string;
  readonly parametersSchema: unknown;
  readonly outputSchema: unknown;
}): string {
  return signature(`capabilities${member(capability.slug)}`, {
    description: capability.description,
    parameters: capability.parametersSchema,
    output: capability.outputSchema,
    isObserved: true,
  });
}

interface Signature {
  readonly description: string;
  readonly parameters: unknown;
  readonly output: unknown;
  readonly isObserved: boolean;
}

function signature(target: string, { description, parameters, output, isObserved }: Signature): string {
  const about = commentText(description, DEFAULTS.maxDescription);
  const result = schemaToType(output);
  return [
    about === '' ? '' : `/** ${about} */\n`,
    `${target}(${parameterList(parameters)}): Promise<${result}>`,
    isObserved && result !== 'unknown' ? OBSERVED : '',
  ].join('');
}

function parameterList(schema: unknown): string {
  if (!isJsonObject(schema)) return 'args?: Record<string, unknown>';
  const { properties, additionalProperties: rest, required } = schema;
  const isClosed = rest === undefined || rest === false;
  const isCombined = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) => keyword in schema);
  if (Object.keys(properties ?? {}).length === 0 && isClosed && !isCombined) return '';
  const mustBeGiven = isCombined || (Array.isArray(required) && required.length > 0);
  return `args${mustBeGiven ? '' : '?'}: ${schemaToType(schema)}`;
}

function member(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** `isCompound`: needs parentheses beside `[]` and `&`. */
interface Type {
  readonly text: string;
  readonly isCompound?: boolean;
}

const UNKNOWN: Type = { text: 'unknown' };
const ANY_OBJECT: Type = { text: 'Record<string, unknown>' };
const SIMPLE: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** A JSON schema of any draft as one line of TypeScript; what cannot be said so, or is broken, is `unknown`. */
export function schemaToType(root: unknown): string {
  let types = DEFAULTS.maxTypes;
  return typeOf(root, 0, new Set()).text;

  /** `within`: the references being followed, so that a type that contains itself ends. */
  function typeOf(schema: unknown, depth: number, within: ReadonlySet<string>): Type {
    if (schema === false) return { text: 'never' };
    if (!isJsonObject(schema) || depth > DEFAULTS.maxDepth || --types < 0) return UNKNOWN;
    const inner = (one: unknown) => typeOf(one, depth + 1, within);
    const parts = [followed(schema, depth, within), plain(schema, inner)];
    for (const choice of [schema.anyOf, schema.oneOf]) {
      if (Array.isArray(choice)) parts.push(union(choice.map(inner)));
    }
    if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map(inner));
    const whole = intersection(parts);
    return schema.nullable === true ? union([whole, { text: 'null' }]) : whole;
  }

  function followed({ $ref }: JsonObject, depth: number, within: ReadonlySet<string>): Type {
    if (typeof $ref !== 'string' || within.has($ref)) return UNKNOWN;
    return typeOf(resolve(root, $ref), depth, new Set([...within, $ref]));
  }
}

type Inner = (schema: unknown) => Type;

/** What the schema says of itself, without what it combines. */
function plain(schema: JsonObject, inner: Inner): Type {
  if (Object.hasOwn(schema, 'const')) return literal(schema.const);
  if (Array.isArray(schema.enum)) return choice(schema.enum);
  const stated = Array.isArray(schema.type) ? schema.type : [schema.type ?? guessed(schema)];
  return union(stated.map((type) => ofType(type, schema, inner)));
}

function guessed(schema: JsonObject): string | undefined {
  if (schema.properties || isJsonObject(schema.additionalProperties)) return 'object';
  return schema.items || schema.prefixItems ? 'array' : undefined;
}

function ofType(type: unknown, schema: JsonObject, inner: Inner): Type {
  if (type === 'object') return object(schema, inner);
  if (type === 'array') return list(schema, inner);
  const text = typeof type === 'string' && Object.hasOwn(SIMPLE, type) ? SIMPLE[type] : undefined;
  return text ? { text } : UNKNOWN;
}

function object(schema: JsonObject, inner: Inner): Type {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rest = schema.additionalProperties;
  if (properties.length === 0) {
    if (rest === false) return { text: '{}' };
    return isJsonObject(rest) ? { text: `Record<string, ${inner(rest).text}>` } : ANY_OBJECT;
  }
  const members = properties.slice(0, DEFAULTS.maxMembers).map(([name, property]) => {
    const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
    const about = isJsonObject(property) ? commentText(property.description, DEFAULTS.maxComment) : '';
    const comment = about === '' ? '' : ` /* ${about} */`;
    return `${key}${required.includes(name) ? '' : '?'}: ${inner(property).text}${comment};`;
  });
  if (isJsonObject(rest)) members.push('[key: string]: unknown;');
  return { text: `{ ${members.join(' ').replace(/;$/, '')}${more(properties.length)} }` };
}

function list(schema: JsonObject, inner: Inner): Type {
  const { items, prefixItems } = schema;
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : null;
  if (!first) return { text: `${operand(items === undefined ? UNKNOWN : inner(items))}[]` };
  const rest = Array.isArray(prefixItems) ? items : schema.additionalItems;
  const members = first.slice(0, DEFAULTS.maxMembers).map((one) => inner(one).text);
  if (rest !== false || first.length > DEFAULTS.maxMembers)
    members.push(`...${isJsonObject(rest) ? operand(inner(rest)) : 'unknown'}[]`);
  return { text: `[${members.join(', ')}]` };
}

/** Too many values are told by their types beside the first few. */
function choice(values: readonly unknown[]): Type {
  if (values.length <= DEFAULTS.maxMembers) return union(values.map(literal));
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  const shown = [
    ...values.slice(0, DEFAULTS.maxMembers).map(literal),
    ...types.map((type) => ofType(type, {}, () => UNKNOWN)),
  ];
  return { text: `${[...new Set(shown.map(operand))].join(' | ')}${more(values.length)}`, isCompound: true };
}

function literal(value: unknown): Type {
  if (Array.isArray(value)) return { text: 'unknown[]' };
  if (isJsonObject(value)) return ANY_OBJECT;
  const text = JSON.stringify(value);
  if (text === undefined) return UNKNOWN;
  return { text: text.length > DEFAULTS.maxLiteral ? typeof value : text };
}

function union(members: readonly Type[]): Type {
  if (members.some(({ text }) => text === 'unknown')) return UNKNOWN;
  const different = [...new Map(members.map((member) => [member.text, member])).values()];
  const possible = different.filter(({ text }) => text !== 'never');
  const [first, second] = possible;
  if (!first) return members.length > 0 ? { text: 'never' } : UNKNOWN;
  if (!second) return first;
  const shown = possible.slice(0, DEFAULTS.maxMembers).map(operand);
  return { text: `${shown.join(' | ')}${more(possible.length)}`, isCompound: true };
}

function intersection(members: readonly Type[]): Type {
  const telling = [...new Map(members.map((member) => [member.text, member])).values()].filter(
    ({ text }) => text !== 'unknown',
  );
  // Any object says nothing beside something that tells which.
  const exact = telling.length > 1 ? telling.filter(({ text }) => text !== ANY_OBJECT.text) : telling;
  const [first, second] = exact;
  if (!first) return UNKNOWN;
  if (!second) return first;
  return { text: exact.map(operand).join(' & '), isCompound: true };
}

function operand({ text, isCompound }: Type): string {
  return isCompound ? `(${text})` : text;
}

function more(count: number): string {
  return count > DEFAULTS.maxMembers ? ` /* and ${count - DEFAULTS.maxMembers} more */` : '';
}

/** `#/$defs/node` (RFC 6901); undefined when it leads nowhere. */
function resolve(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined;
  let place: unknown = root;
  for (const part of ref.slice(1).split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Record<string, unknown>)[key];
  }
  return place;
}
