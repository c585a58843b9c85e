const DEFAULTS = {
  /** Names of fields that usually contain several lines. */
  longNames: /content|text|body|code|message|thought|prompt|markdown|description|data$/i,
  /** Levels of references to follow. */
  references: 8,
};

type Json = Readonly<Record<string, unknown>>;

export type FieldKind = 'text' | 'long' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'json';

/** One property of a schema as a form field. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** For a list: the kind of its entries. */
  readonly entries?: FieldKind;
  readonly description: string;
  readonly isRequired: boolean;
  /** For a choice, or a list of choices. */
  readonly choices: readonly unknown[];
  /** The type in words, such as `number, 1 to 10`. */
  readonly type: string;
  readonly initial?: unknown;
}

/**
 * The fields of an object's JSON Schema, required ones first. Null if it lists no properties: then the
 * arguments are edited as JSON. Schemas come from servers and agents, so nothing in them is trusted.
 */
export function fieldsOf(schema: unknown): readonly Field[] | null {
  const root = objectOf(schema);
  const properties = objectOf(root.properties);
  const required = Array.isArray(root.required) ? root.required : [];
  if (Object.keys(properties).length === 0) return root.additionalProperties === false ? [] : null;
  return Object.entries(properties)
    .map(([name, property]) => fieldOf(name, resolved(property, root), root, required.includes(name)))
    .sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

function fieldOf(name: string, schema: Json, root: Json, isRequired: boolean): Field {
  const own = chosen(schema, root);
  const kind = kindOf(name, own);
  const items = kind === 'list' ? resolved(own.items, root) : own;
  const entries = kind === 'list' ? kindOf(name, items) : undefined;
  const description = schema.description ?? own.description;
  const initial = schema.default ?? own.default;
  return {
    name,
    kind,
    ...(entries && { entries }),
    description: typeof description === 'string' ? description : '',
    isRequired,
    choices: choicesOf(items),
    type: typeInWords(kind, own, entries),
    ...(initial !== undefined && { initial }),
  };
}

/** For "X or null" the first alternative that is not null: leaving the field empty means null. */
function chosen(schema: Json, root: Json): Json {
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (!options || choicesOf(schema).length > 0) return schema;
  const real = options.map((one) => resolved(one, root)).filter(({ type }) => type !== 'null');
  return real.length === 1 ? real[0]! : schema;
}

function kindOf(name: string, schema: Json): FieldKind {
  if (choicesOf(schema).length > 0) return 'choice';
  switch (typeOf(schema)) {
    case 'string':
      return DEFAULTS.longNames.test(name) ? 'long' : 'text';
    case 'number':
      return 'number';
    case 'integer':
      return 'integer';
    case 'boolean':
      return 'boolean';
    case 'array':
      return ['text', 'long', 'number', 'integer', 'choice'].includes(kindOf('', objectOf(schema.items)))
        ? 'list'
        : 'json';
    default:
      return 'json';
  }
}

function choicesOf(schema: Json): readonly unknown[] {
  if (Array.isArray(schema.enum)) return schema.enum;
  if ('const' in schema) return [schema.const];
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray)?.map(objectOf) ?? [];
  return options.length > 0 && options.every((one) => 'const' in one) ? options.map((one) => one.const) : [];
}

function typeOf({ type }: Json): unknown {
  return Array.isArray(type) ? type.find((one) => one !== 'null') : type;
}

const WORDS: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  long: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
  choice: 'choice',
  list: 'list',
  json: 'JSON',
};

function typeInWords(kind: FieldKind, schema: Json, entries: FieldKind | undefined): string {
  if (entries)
    return `list of ${WORDS[entries]}${entries === 'choice' || entries.startsWith('l') ? '' : 's'}`;
  const { minimum, maximum } = schema;
  const [least, most] = [minimum, maximum].map((bound) => (typeof bound === 'number' ? bound : undefined));
  if (least !== undefined && most !== undefined) return `${WORDS[kind]}, ${least} to ${most}`;
  if (least !== undefined) return `${WORDS[kind]}, at least ${least}`;
  return most === undefined ? WORDS[kind] : `${WORDS[kind]}, at most ${most}`;
}

/** Follows references within the schema. */
function resolved(schema: unknown, root: Json): Json {
  let own = objectOf(schema);
  for (let i = 0; i < DEFAULTS.references && typeof own.$ref === 'string'; i++) {
    const path = own.$ref.split('/').slice(1);
    own = path.reduce<Json>((at, part) => objectOf(at[part]), root);
  }
  return own;
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
