import { PmlError } from './pml-error.ts';

/** Checks and converts a value of unknown origin; the error says what is wrong and where: `events[3].ts`. */
export type Read<T> = (value: unknown, at: string) => T;

/** Most characters of a wrong value that an error shows. */
const SHOWN = 40;

export function wrong(at: string, problem: string): PmlError {
  return new PmlError('invalid_argument', `${at} ${problem}`);
}

function mismatch(at: string, expected: string, value: unknown): PmlError {
  if (value === undefined) return wrong(at, 'is missing');
  const text = JSON.stringify(value);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return wrong(at, `must be ${expected}, not ${shown}`);
}

export const boolean: Read<boolean> = (value, at) => {
  if (typeof value === 'boolean') return value;
  throw mismatch(at, 'true or false', value);
};

export const string: Read<string> = (value, at) => {
  if (typeof value === 'string') return value;
  throw mismatch(at, 'a string', value);
};

export const anything: Read<unknown> = (value) => value;

/** Short, without control characters, and stored identically by every store. */
export function idOf(maxLength: number): Read<string> {
  return (value, at) => {
    const id = string(value, at);
    const isFit = id !== '' && id.length <= maxLength && id.isWellFormed() && !/\p{Cc}/u.test(id);
    if (isFit) return id;
    throw mismatch(at, `an id of 1 to ${maxLength} visible characters`, id);
  };
}

export function numberFrom(least: number, most = Number.MAX_VALUE): Read<number> {
  const range =
    most === Number.MAX_VALUE ? `a number of at least ${least}` : `a number from ${least} to ${most}`;
  return (value, at) => {
    if (typeof value === 'number' && value >= least && value <= most) return value;
    throw mismatch(at, range, value);
  };
}

export function oneOf<T extends string>(values: readonly T[]): Read<T> {
  return (value, at) => {
    if (values.includes(value as T)) return value as T;
    throw mismatch(at, `one of ${values.join(', ')}`, value);
  };
}

/** Absent counts as null. */
export function orNull<T>(read: Read<T>): Read<T | null> {
  return (value, at) => (value === null || value === undefined ? null : read(value, at));
}

export function listOf<T>(read: Read<T>, maxLength = Number.POSITIVE_INFINITY): Read<T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw mismatch(at, 'a list', value);
    if (value.length > maxLength) throw wrong(at, `has ${value.length} entries; the maximum is ${maxLength}`);
    return value.map((item, index) => read(item, `${at}[${index}]`));
  };
}

/** Reads the fields of an object; fields that nobody reads are ignored. */
export interface Fields {
  get<T>(name: string, read: Read<T>): T;
  /** Empty when the field is missing. */
  maybe<K extends string, T>(name: K, read: Read<T>): { readonly [key in K]?: T };
}

export function fieldsOf(value: unknown, at: string): Fields {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw mismatch(at === '' ? 'It' : at, 'an object', value);
  }
  const of = (name: string) =>
    Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  const path = (name: string) => (at === '' ? name : `${at}.${name}`);
  return {
    get: (name, read) => read(of(name), path(name)),
    maybe: (name, read) =>
      of(name) === undefined
        ? {}
        : ({ [name]: read(of(name), path(name)) } as { [key in typeof name]: never }),
  };
}

/** Size of a value; a value from outside may be of any size. */
interface JsonWeight {
  /** Approximate length of its JSON. */
  readonly characters: number;
  /** Nesting depth of lists and objects; 0 for a text or a number. */
  readonly depth: number;
}

/** Without recursion, because the value may be nested deeper than the stack allows. */
export function weighJson(value: unknown): JsonWeight {
  let characters = 0;
  let depth = 0;
  let level: unknown[] = [value];
  for (; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one === 'string') characters += one.length + 2;
      else if (Array.isArray(one)) {
        characters += one.length + 2;
        for (const item of one) next.push(item);
      } else if (typeof one === 'object' && one !== null) {
        for (const [key, item] of Object.entries(one)) {
          characters += key.length + 4;
          next.push(item);
        }
      } else characters += 5;
    }
    level = next;
  }
  return { characters, depth: depth - 1 };
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
