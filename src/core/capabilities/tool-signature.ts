import { isJsonObject, type JsonObject } from '../vocabulary/read-wire.ts';
import { commentText, docComment } from '../vocabulary/text.ts';
import type { ToolDefinition } from '../vocabulary/tool-definition.ts';

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
  /** Characters of the name of a member; one with a longer name is left out. */
  maxName: 200,
  /** Characters of a brief signature: five of them, with descriptions, are some 500 tokens. */
  brief: 320,
};

/** One line for a model or a terminal, or a block with doc comments for a declaration file. */
type Layout = 'line' | 'block';

/** How much of a type is written out. */
interface Room {
  readonly maxDepth: number;
  readonly maxMembers: number;
  readonly maxComment: number;
}

/** What a type loses, step by step, until it is short enough: comments first, then members, the optional ones first. */
const STEPS: readonly Room[] = [
  DEFAULTS,
  { ...DEFAULTS, maxComment: 30 },
  { ...DEFAULTS, maxComment: 0 },
  { maxDepth: 4, maxMembers: 16, maxComment: 0 },
  { maxDepth: 2, maxMembers: 10, maxComment: 0 },
  { maxDepth: 1, maxMembers: 6, maxComment: 0 },
];

const OBSERVED = ' // output type observed, not declared';

/** What a tool says of itself that matters to code. */
export type CallableTool = Pick<
  ToolDefinition,
  'server' | 'name' | 'description' | 'inputSchema' | 'outputSchema'
>;

export interface CallableCapability {
  readonly slug: string;
  readonly description: string;
  readonly parametersSchema: unknown;
  readonly outputSchema: unknown;
}

/**
 * How a tool is called in code, as TypeScript: by its whole name, or, as a block, as a member of its server. A tool
 * that declares no output has the type of what it gave so far, and says so.
 */
export function toolSignature(tool: CallableTool, observedOutput?: unknown, layout: Layout = 'line'): string {
  const isDeclared = tool.outputSchema !== undefined && tool.outputSchema !== null;
  const target = layout === 'block' ? memberKey(tool.name) : `mcp${member(tool.server)}${member(tool.name)}`;
  return signature(target, layout, {
    description: tool.description,
    parameters: tool.inputSchema,
    output: isDeclared ? tool.outputSchema : observedOutput,
    isObserved: !isDeclared,
  });
}

export function capabilitySignature(capability: CallableCapability, layout: Layout = 'line'): string {
  const { slug, description, parametersSchema, outputSchema } = capability;
  const target = layout === 'block' ? memberKey(slug) : `capabilities${member(slug)}`;
  const [parameters, output] = [parametersSchema, outputSchema];
  return signature(target, layout, { description, parameters, output, isObserved: true });
}

/**
 * What a model needs to call a tool by its id, in one short line: `{ path: string } -> { content: string }`. The result
 * is left out where nothing is known of it, or no room is left.
 */
export function briefSignature(input: unknown, output?: unknown, characters = DEFAULTS.brief): string {
  const taken = parameterList(input, 'line') === '' ? '{}' : briefType(input, characters);
  const given = briefType(output, characters - taken.length);
  return given === 'unknown' || given.endsWith('…') ? taken : `${taken} -> ${given}`;
}

function briefType(schema: unknown, characters: number): string {
  let text = '';
  for (const room of STEPS) {
    text = schemaToType(schema, 'line', room);
    if (text.length <= characters) return text;
  }
  return `${text.slice(0, Math.max(0, characters))}…`;
}

interface Signature {
  readonly description: string;
  readonly parameters: unknown;
  readonly output: unknown;
  readonly isObserved: boolean;
}

function signature(target: string, layout: Layout, callable: Signature): string {
  const { description, parameters, output } = callable;
  const result = schemaToType(output, layout);
  const call = `${target}(${parameterList(parameters, layout)}): Promise<${result}>`;
  const isObserved = callable.isObserved && result !== 'unknown';
  if (layout === 'block') {
    return `${docComment(description, isObserved ? ['@returns What was observed: no type is declared.'] : [])}${call};`;
  }
  const about = commentText(description, DEFAULTS.maxDescription);
  return `${about === '' ? '' : `/** ${about} */\n`}${call}${isObserved ? OBSERVED : ''}`;
}

/** What stands between the parentheses; nothing for what takes no arguments. */
function parameterList(schema: unknown, layout: Layout): string {
  if (!isJsonObject(schema)) return 'args?: Record<string, unknown>';
  const { properties, additionalProperties: rest, required } = schema;
  const isClosed = rest === undefined || rest === false;
  const isCombined = ['$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) => keyword in schema);
  if (Object.keys(properties ?? {}).length === 0 && isClosed && !isCombined) return '';
  const mustBeGiven = isCombined || (Array.isArray(required) && required.length > 0);
  return `args${mustBeGiven ? '' : '?'}: ${schemaToType(schema, layout)}`;
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function member(name: string): string {
  return IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** A name as the key of a type; `new(…)` would be a constructor. */
export function memberKey(name: string): string {
  return IDENTIFIER.test(name) && name !== 'new' ? name : JSON.stringify(name);
}

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

/** A JSON schema of any draft as TypeScript; what cannot be said so, or is broken, is `unknown`. */
export function schemaToType(root: unknown, layout: Layout = 'line', room: Room = DEFAULTS): string {
  let types = DEFAULTS.maxTypes;
  return typeOf(root, 0, new Set()).text;

  /** `within`: the references being followed, so that a type that contains itself ends. */
  function typeOf(schema: unknown, depth: number, within: ReadonlySet<string>): Type {
    if (schema === false) return { text: 'never' };
    if (!isJsonObject(schema) || depth > room.maxDepth || --types < 0) return UNKNOWN;
    const inner = (one: unknown) => typeOf(one, depth + 1, within);
    const parts = [followed(schema, depth, within), plain(schema, inner, layout, room)];
    for (const choice of [schema.anyOf, schema.oneOf]) {
      // Of a type that is checked, no choice may be missing.
      const isCut = layout === 'block' && Array.isArray(choice) && choice.length > room.maxMembers;
      if (Array.isArray(choice) && !isCut) parts.push(union(choice.map(inner), room));
    }
    if (Array.isArray(schema.allOf)) parts.push(...schema.allOf.map(inner));
    const whole = intersection(parts);
    return schema.nullable === true ? union([whole, { text: 'null' }], room) : whole;
  }

  function followed({ $ref }: JsonObject, depth: number, within: ReadonlySet<string>): Type {
    if (typeof $ref !== 'string' || within.has($ref)) return UNKNOWN;
    return typeOf(resolve(root, $ref), depth, new Set([...within, $ref]));
  }
}

type Inner = (schema: unknown) => Type;

/** What the schema says of itself, without what it combines. */
function plain(schema: JsonObject, inner: Inner, layout: Layout, room: Room): Type {
  if (Object.hasOwn(schema, 'const')) return literal(schema.const);
  if (Array.isArray(schema.enum)) return choice(schema.enum, room);
  const stated = Array.isArray(schema.type) ? schema.type : [schema.type ?? guessed(schema)];
  return union(
    stated.map((type) => ofType(type, schema, inner, layout, room)),
    room,
  );
}

function guessed(schema: JsonObject): string | undefined {
  if (schema.properties || isJsonObject(schema.additionalProperties)) return 'object';
  return schema.items || schema.prefixItems ? 'array' : undefined;
}

function ofType(type: unknown, schema: JsonObject, inner: Inner, layout: Layout, room: Room): Type {
  if (type === 'object') return object(schema, inner, layout, room);
  if (type === 'array') return list(schema, inner, room);
  const text = typeof type === 'string' && Object.hasOwn(SIMPLE, type) ? SIMPLE[type] : undefined;
  return text ? { text } : UNKNOWN;
}

function object(schema: JsonObject, inner: Inner, layout: Layout, room: Room): Type {
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const rest = schema.additionalProperties;
  if (properties.length === 0) {
    if (rest === false) return { text: '{}' };
    return isJsonObject(rest) ? { text: `Record<string, ${inner(rest).text}>` } : ANY_OBJECT;
  }
  const isCut = properties.length > room.maxMembers;
  const rank = ([name]: [string, unknown]) => (isCut && !required.includes(name) ? 1 : 0);
  const shown = properties
    .filter(([name]) => name.length <= DEFAULTS.maxName)
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, room.maxMembers)
    .map(([name, property]) => ({
      text: `${memberKey(name)}${required.includes(name) ? '' : '?'}: ${inner(property).text}`,
      about: isJsonObject(property) ? property.description : undefined,
    }));
  if (layout === 'block') {
    // Of a type that is checked, what is left out must still be taken.
    const isOpen = isJsonObject(rest) || shown.length < properties.length;
    const members = shown.map(({ text, about }) => `${docComment(about)}${text};`);
    if (isOpen) members.push('[key: string]: unknown;');
    return { text: block(members) };
  }
  const members = shown.map(({ text, about }) => {
    const comment = room.maxComment === 0 ? '' : commentText(about, room.maxComment);
    return `${text}${comment === '' ? '' : ` /* ${comment} */`};`;
  });
  if (isJsonObject(rest)) members.push('[key: string]: unknown;');
  const left = properties.length - shown.length;
  return { text: `{ ${members.join(' ').replace(/;$/, '')}${left > 0 ? ` /* and ${left} more */` : ''} }` };
}

/** Members of a type in braces. Every line feed in them is between lines of code: names and comments have none. */
export function block(members: readonly string[]): string {
  if (members.length === 0) return '{}';
  return `{\n${members.map((member) => `  ${member.replaceAll('\n', '\n  ')}\n`).join('')}}`;
}

function list(schema: JsonObject, inner: Inner, { maxMembers }: Room): Type {
  const { items, prefixItems } = schema;
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : null;
  if (!first) return { text: `${operand(items === undefined ? UNKNOWN : inner(items))}[]` };
  const rest = Array.isArray(prefixItems) ? items : schema.additionalItems;
  const members = first.slice(0, maxMembers).map((one) => inner(one).text);
  if (rest !== false || first.length > maxMembers)
    members.push(`...${isJsonObject(rest) ? operand(inner(rest)) : 'unknown'}[]`);
  return { text: `[${members.join(', ')}]` };
}

/** Too many values are told by their types beside the first few. */
function choice(values: readonly unknown[], room: Room): Type {
  const { maxMembers } = room;
  if (values.length <= maxMembers) return union(values.map(literal), room);
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  const shown = [
    ...values.slice(0, maxMembers).map(literal),
    ...types.map((type) => ofType(type, {}, () => UNKNOWN, 'line', room)),
  ];
  return {
    text: `${[...new Set(shown.map(operand))].join(' | ')}${more(values.length, maxMembers)}`,
    isCompound: true,
  };
}

function literal(value: unknown): Type {
  if (Array.isArray(value)) return { text: 'unknown[]' };
  if (isJsonObject(value)) return ANY_OBJECT;
  const text = JSON.stringify(value);
  if (text === undefined) return UNKNOWN;
  return { text: text.length > DEFAULTS.maxLiteral ? typeof value : text };
}

function union(members: readonly Type[], { maxMembers }: Room): Type {
  if (members.some(({ text }) => text === 'unknown')) return UNKNOWN;
  const different = [...new Map(members.map((member) => [member.text, member])).values()];
  const possible = different.filter(({ text }) => text !== 'never');
  const [first, second] = possible;
  if (!first) return members.length > 0 ? { text: 'never' } : UNKNOWN;
  if (!second) return first;
  const shown = possible.slice(0, maxMembers).map(operand);
  return { text: `${shown.join(' | ')}${more(possible.length, maxMembers)}`, isCompound: true };
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

function more(count: number, shown: number): string {
  return count > shown ? ` /* and ${count - shown} more */` : '';
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
