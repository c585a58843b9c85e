import { isJsonObject } from '../vocabulary/read-wire.ts';

const DEFAULTS = {
  /** Levels that are looked at. */
  maxDepth: 6,
  /** Fields of one answer that are looked at. */
  maxFields: 80,
  /** Keys of one object; with more, they are data. */
  maxKeys: 50,
  /** Items of a list that are looked at. */
  maxItems: 20,
  /** Longest key that is a name, and longest text that is a choice. */
  maxName: 40,
  maxChoice: 24,
  /** Arguments that are looked at. */
  maxArguments: 20,
  /** Characters of the arguments that tell one question from another. */
  maxQuestion: 4_096,
};

export type FieldType = 'object' | 'array' | 'string' | 'number' | 'boolean';

export interface FieldSeen {
  /** Without null, which says nothing of the type. */
  readonly types: readonly FieldType[];
  /** log10 of a number's magnitude, the median over the items of a list; absent for 0 and for other types. */
  readonly size?: number;
}

/** One answer as it is compared with others. It holds names and magnitudes, no values. */
export interface Answer {
  /** Hash of the arguments: the same question has the same number. */
  readonly question: number;
  /** Names of the arguments, and values that read like a choice, as hashes: `unit`, `unit=1x2y3z`. */
  readonly asked: readonly string[];
  /** By path: `` the whole, `a.b` a field, `a[]` the items of a list, `a.*` what stands under keys that are data. */
  readonly fields: Readonly<Record<string, FieldSeen>>;
  /** Magnitudes of the arguments that are numbers, by name. */
  readonly sizes: Readonly<Record<string, number>>;
}

/** The keys of answers that only say what went wrong, although the call succeeded. */
const COMPLAINTS = ['error', 'errors', 'isError', 'is_error', 'exception'];
const BESIDE_COMPLAINTS = new Set([...COMPLAINTS, 'message', 'code', 'status', 'success', 'ok', 'detail']);

/** Null for an answer that says nothing of the tool's shape: nothing, or that something went wrong. */
export function readAnswer(args: unknown, result: unknown): Answer | null {
  if (result === undefined || result === null || isComplaint(result)) return null;
  const fields = readFields(result);
  if (Object.keys(fields).length === 0) return null;
  return { question: hashOf(args), ...readArguments(args), fields };
}

function isComplaint(result: unknown): boolean {
  if (!isJsonObject(result)) return false;
  const keys = Object.keys(result);
  if (result.success === false || result.ok === false) return true;
  return COMPLAINTS.some((key) => result[key]) && keys.every((key) => BESIDE_COMPLAINTS.has(key));
}

function readFields(result: unknown): Record<string, FieldSeen> {
  const found = new Map<string, { types: Set<FieldType>; sizes: number[] }>();
  visit(result, '', 0);
  return Object.fromEntries(
    Array.from(found, ([path, { types, sizes }]) => [
      path,
      { types: [...types].sort(), ...(sizes.length > 0 && { size: medianOf(sizes) }) },
    ]),
  );

  function visit(value: unknown, path: string, depth: number): void {
    let field = found.get(path);
    if (!field) {
      if (found.size >= DEFAULTS.maxFields) return;
      field = { types: new Set(), sizes: [] };
      found.set(path, field);
    }
    const type = typeOf(value);
    if (type === null) return;
    field.types.add(type);
    if (typeof value === 'number' && value !== 0) field.sizes.push(Math.log10(Math.abs(value)));
    if (depth >= DEFAULTS.maxDepth) return;
    if (Array.isArray(value))
      for (const item of value.slice(0, DEFAULTS.maxItems)) visit(item, `${path}[]`, depth + 1);
    else if (isJsonObject(value)) visitKeys(value, path, depth);
  }

  function visitKeys(object: Readonly<Record<string, unknown>>, path: string, depth: number): void {
    const entries = Object.entries(object).filter(([, value]) => value !== undefined);
    const isData = entries.length > DEFAULTS.maxKeys || entries.some(([key]) => !isName(key));
    for (const [key, value] of entries.slice(0, DEFAULTS.maxKeys))
      visit(value, below(path, isData ? '*' : key), depth + 1);
  }
}

/** Null where the type says nothing: absent, empty, or replaced by a marker because it was secret or too long. */
function typeOf(value: unknown): FieldType | null {
  if (value === null || value === undefined || value === '') return null;
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return /^\[[a-z0-9 ]{1,30}\]$/.test(value) ? null : 'string';
    case 'number':
      return Number.isFinite(value) ? 'number' : null;
    case 'object':
    case 'boolean':
      return typeof value as 'object' | 'boolean';
    default:
      return null;
  }
}

/** A key that a programmer wrote: ids, dates, addresses and sentences are data, and so is what all objects have. */
function isName(key: string): boolean {
  return (
    !(key in {}) && key.length <= DEFAULTS.maxName && /^[A-Za-z_$@][\w$-]*$/.test(key) && !/\d{3}/.test(key)
  );
}

export function below(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** Null for the whole, and for the items of a list, which may be empty. */
export function parentOf(path: string): string | null {
  if (path === '' || path.endsWith('[]')) return null;
  const dot = path.lastIndexOf('.');
  return dot < 0 ? '' : path.slice(0, dot);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

function readArguments(args: unknown): Pick<Answer, 'asked' | 'sizes'> {
  const asked: string[] = [];
  const sizes: Record<string, number> = {};
  if (!isJsonObject(args)) return { asked, sizes };
  for (const [name, value] of Object.entries(args).slice(0, DEFAULTS.maxArguments)) {
    if (!isName(name) || value === undefined) continue;
    asked.push(name);
    const isChoice =
      typeof value === 'string' && value.length <= DEFAULTS.maxChoice && /^[\w-]+$/.test(value);
    if (isChoice || typeof value === 'boolean') asked.push(`${name}=${hashOf(value).toString(36)}`);
    if (typeof value === 'number' && value !== 0) sizes[name] = Math.log10(Math.abs(value));
  }
  return { asked, sizes };
}

/** FNV-1a of the beginning of the JSON, 32 bits: questions are told apart, not identified. */
function hashOf(args: unknown): number {
  const text = (JSON.stringify(args) ?? '').slice(0, DEFAULTS.maxQuestion);
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Of at least one number. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
