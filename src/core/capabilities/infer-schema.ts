import { isJsonObject } from '../vocabulary/read-wire.ts';

const DEFAULTS = {
  /** Levels described; deeper ones are anything. */
  maxDepth: 8,
  /** Properties of one object; with more, the keys are data and only their values are described. */
  maxProperties: 50,
  /** Items of a list that are looked at. */
  maxItems: 50,
  /** Values looked at in all. */
  maxValues: 2000,
};

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type JsonType = (typeof TYPES)[number];

/**
 * A JSON schema that fits the values seen so far and says no more than that. Keywords speak only of values of
 * their type, so one of several types is one flat schema, and merging goes keyword by keyword.
 */
export interface ObservedSchema {
  /** Absent: anything. */
  readonly type?: JsonType | readonly JsonType[];
  readonly properties?: Readonly<Record<string, ObservedSchema>>;
  /** Those that every object seen has, in order of name. */
  readonly required?: readonly string[];
  /** Of an object whose keys are data, in place of `properties`. */
  readonly additionalProperties?: ObservedSchema;
  /** Absent while only empty lists were seen. */
  readonly items?: ObservedSchema;
}

export function inferSchema(value: unknown): ObservedSchema {
  let values = DEFAULTS.maxValues;
  return infer(value, 0);

  function infer(value: unknown, depth: number): ObservedSchema {
    if (depth > DEFAULTS.maxDepth || --values < 0) return {};
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return { type: typeof value as 'string' | 'boolean' };
      case 'number':
        // JSON writes what is not finite as null.
        if (!Number.isFinite(value)) return { type: 'null' };
        return { type: Number.isInteger(value) ? 'integer' : 'number' };
      case 'object':
        if (value === null) return { type: 'null' };
        return Array.isArray(value) ? ofList(value, depth) : ofObject(value, depth);
      default:
        return {};
    }
  }

  function ofList(list: readonly unknown[], depth: number): ObservedSchema {
    const items = list.slice(0, DEFAULTS.maxItems).map((item) => infer(item, depth + 1));
    return { type: 'array', ...(items.length > 0 && { items: items.reduce(mergeSchemas) }) };
  }

  function ofObject(object: object, depth: number): ObservedSchema {
    const fields = Object.entries(object).filter(([, field]) => field !== undefined);
    const properties = fields.map(([name, field]) => [name, infer(field, depth + 1)] as const);
    return { type: 'object', ...describeKeys(new Map(properties), new Set(fields.map(([name]) => name))) };
  }
}

/**
 * A schema that fits what either fits: types together, properties that one side lacks optional. The order of
 * merging does not matter, and merging the same again changes nothing. Null or undefined: nothing seen yet.
 */
export function mergeSchemas(one: unknown, other: unknown): ObservedSchema {
  const a = asObserved(one);
  const b = asObserved(other);
  if (!a || !b) return a ?? b ?? {};
  const types = new Set([...typesOf(a), ...typesOf(b)]);
  if (!a.type || !b.type) return {};
  if (types.has('number')) types.delete('integer');
  const [only, ...more] = TYPES.filter((type) => types.has(type));
  const items = a.items && b.items ? mergeSchemas(a.items, b.items) : (a.items ?? b.items);
  return {
    ...(only && { type: more.length > 0 ? [only, ...more] : only }),
    ...mergeKeys(a, b),
    ...(items && { items }),
  };
}

type Keys = Pick<ObservedSchema, 'properties' | 'required' | 'additionalProperties'>;

function mergeKeys(a: ObservedSchema, b: ObservedSchema): Keys {
  if (!typesOf(a).includes('object')) return keysOf(b);
  if (!typesOf(b).includes('object')) return keysOf(a);
  const merged = new Map(Object.entries(a.properties ?? {}));
  for (const [name, schema] of Object.entries(b.properties ?? {}))
    merged.set(name, mergeSchemas(merged.get(name), schema));
  const values = [a.additionalProperties, b.additionalProperties].filter((schema) => schema !== undefined);
  if (values.length > 0)
    return { additionalProperties: [...values, ...merged.values()].reduce(mergeSchemas) };
  const inBoth = new Set(a.required ?? []).intersection(new Set(b.required ?? []));
  return describeKeys(merged, inBoth);
}

function keysOf({ properties, required, additionalProperties }: ObservedSchema): Keys {
  return {
    ...(properties && { properties }),
    ...(required && { required }),
    ...(additionalProperties && { additionalProperties }),
  };
}

function describeKeys(properties: ReadonlyMap<string, ObservedSchema>, required: ReadonlySet<string>): Keys {
  if (properties.size > DEFAULTS.maxProperties)
    return { additionalProperties: [...properties.values()].reduce(mergeSchemas) };
  if (properties.size === 0) return {};
  const always = [...properties.keys()].filter((name) => required.has(name)).sort();
  return { properties: Object.fromEntries(properties), ...(always.length > 0 && { required: always }) };
}

function typesOf({ type }: ObservedSchema): readonly JsonType[] {
  if (type === undefined) return [];
  return typeof type === 'string' ? [type] : type;
}

/** What was stored long ago is only trusted to be JSON. */
function asObserved(schema: unknown): ObservedSchema | null {
  if (schema === null || schema === undefined) return null;
  return isJsonObject(schema) ? (schema as ObservedSchema) : {};
}
