import { type Schema, Validator } from '@cfworker/json-schema';
import type { Field, FieldKind } from './fields-of.ts';

/** The content of a field: typed text, a tick, or the entries of a list. Absent if never touched. */
export type Draft = string | boolean | readonly string[];
export type Drafts = Readonly<Record<string, Draft | undefined>>;

export interface ReadForm {
  readonly values: Readonly<Record<string, unknown>>;
  /** By field name; problems of the whole form are under the empty name. */
  readonly problems: Readonly<Record<string, string>>;
}

const NOTHING = Symbol('nothing');

/** The form's values as arguments, validated against the schema. Empty optional fields are left out. */
export function readForm(schema: unknown, fields: readonly Field[], drafts: Drafts): ReadForm {
  const values: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    try {
      const value = readField(field, drafts[field.name]);
      if (value !== NOTHING) values[field.name] = value;
      else if (field.isRequired) problems[field.name] = 'This is required.';
    } catch (error) {
      problems[field.name] = (error as Error).message;
    }
  }
  return { values, problems: Object.keys(problems).length > 0 ? problems : problemsOf(schema, values) };
}

/** Arguments written as JSON. */
export function readJson(schema: unknown, text: string): ReadForm {
  try {
    const values: unknown = JSON.parse(text.trim() || '{}');
    if (typeof values !== 'object' || values === null || Array.isArray(values))
      throw new Error('Arguments must be an object, such as {"path": "notes.md"}.');
    return { values: values as ReadForm['values'], problems: problemsOf(schema, values) };
  } catch (error) {
    return { values: {}, problems: { '': (error as Error).message } };
  }
}

/** Initial content of the fields. */
export function firstDrafts(
  fields: readonly Field[],
  values: Readonly<Record<string, unknown>> = {},
): Drafts {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, initial }) => {
      const value = values[name] ?? initial;
      return value === undefined ? [] : [[name, draftOf(kind, value)]];
    }),
  );
}

function draftOf(kind: FieldKind, value: unknown): Draft {
  if (kind === 'boolean') return value === true;
  if (kind === 'list' && Array.isArray(value)) return value.map((entry) => String(entry));
  if (kind === 'choice' || kind === 'json') return JSON.stringify(value, null, kind === 'json' ? 2 : 0);
  return String(value);
}

function readField({ kind, entries = 'text', isRequired }: Field, draft: Draft | undefined): unknown {
  if (kind === 'boolean') return draft ?? (isRequired ? false : NOTHING);
  if (kind === 'list') {
    const given = Array.isArray(draft) ? (draft as readonly string[]) : [];
    const filled = given.filter((entry) => entry !== '');
    if (filled.length === 0 && !(isRequired && Array.isArray(draft))) return NOTHING;
    return filled.map((entry) => readText(entries, entry));
  }
  const text = typeof draft === 'string' ? draft : '';
  return text === '' ? NOTHING : readText(kind, text);
}

function readText(kind: FieldKind, text: string): unknown {
  if (kind === 'text' || kind === 'long') return text;
  if (kind === 'choice') return JSON.parse(text);
  if (kind === 'json') {
    try {
      return JSON.parse(text);
    } catch {
      throw new Error('This is not valid JSON: put texts in double quotes.');
    }
  }
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error('This is not a number.');
  if (kind === 'integer' && !Number.isInteger(value)) throw new Error('Enter a whole number.');
  return value;
}

/** The deepest error of each field. An unusable schema rejects nothing: the gateway validates again. */
function problemsOf(schema: unknown, values: unknown): Record<string, string> {
  try {
    const copy = structuredClone(schema) as Schema;
    const { valid, errors } = new Validator(copy, '2020-12', false).validate(values);
    if (valid) return {};
    const byField = errors
      .filter(({ keyword }) => keyword !== 'properties' && keyword !== 'items')
      .map(({ instanceLocation, error }) => [instanceLocation.split('/')[1] ?? '', error] as const);
    return Object.fromEntries(byField.length > 0 ? byField : [['', 'This does not fit the schema.']]);
  } catch {
    return {};
  }
}
