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
  /** Numbers kept of one field, the newest. */
  kept: 40,
  /** How many of the newest may be of another unit: each is tried. */
  lengths: [6, 8, 10, 12],
  /** Numbers before them, at least. */
  before: 10,
  /** A smaller factor is how numbers vary, in log10. */
  leastShift: Math.log10(1.8),
  /** The chance of complete separation without a change, at the most. */
  chance: 1e-6,
  /** Standard deviations of the rank sum from its mean, where the two overlap. */
  leastZ: 4.5,
  /** Each side must stay where it is: its halves differ by at most this share of the shift. */
  drifting: 0.34,
  /** Different questions on each side, at least. */
  questions: 4,
  /** Fewer questions do where both sides together are so narrow, as a share of the shift. */
  narrow: 0.5,
  /** The same question with so nearly the same number, in log10: the unit has not changed. */
  same: 0.05,
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
function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The magnitudes of one number over time, oldest first, with the question each answers. Plain JSON. */
export interface Magnitudes {
  readonly logs: number[];
  readonly questions: number[];
}

export function addMagnitude({ logs, questions }: Magnitudes, log: number, question: number): void {
  logs.push(Math.round(log * 1e4) / 1e4);
  questions.push(question);
  if (logs.length > DEFAULTS.kept) {
    logs.shift();
    questions.shift();
  }
}

export interface UnitShift {
  /** How many of the newest numbers are shifted. */
  readonly length: number;
  /** Numbers now, as a multiple of those before. */
  readonly factor: number;
  /** Medians of the logarithms. */
  readonly before: number;
  readonly after: number;
  /** Of such a shift without a change. */
  readonly chance: number;
}

/**
 * Whether the newest numbers are on another scale than those before. The numbers are taken as exchangeable while nothing
 * changes: then all of the m newest of n + m exceed the others with a chance of 1 / C(n + m, m), whatever they are
 * distributed like, and where the two overlap their rank sum is nearly normal (Mann and Whitney, "On a test of whether one
 * of two random variables is stochastically larger than the other", 1947). A trend is not a break: both sides must stay
 * where they are. And where the same question still gets the same number, no unit has changed.
 */
export function unitShift(numbers: Magnitudes): UnitShift | null {
  for (const length of DEFAULTS.lengths) {
    const found = shiftAt(numbers, length);
    if (found) return found;
  }
  return null;
}

/** Whether magnitudes of something else broke at the same place, which then explains it. */
export function breaksToo({ logs }: Magnitudes, length: number): boolean {
  const at = logs.length - length;
  if (at < 1) return false;
  const shift = medianOf(logs.slice(at)) - medianOf(logs.slice(0, at));
  return Math.abs(shift) >= DEFAULTS.leastShift;
}

function shiftAt({ logs, questions }: Magnitudes, length: number): UnitShift | null {
  const at = logs.length - length;
  if (at < DEFAULTS.before) return null;
  const [old, now] = [logs.slice(0, at), logs.slice(at)];
  const [before, after] = [medianOf(old), medianOf(now)];
  const shift = after - before;
  if (Math.abs(shift) < DEFAULTS.leastShift) return null;
  const chance = chanceOf(old, now);
  if (chance === null || isMoving(old, shift) || isMoving(now, shift)) return null;
  const asked = [new Set(questions.slice(0, at)), new Set(questions.slice(at))] as const;
  const isNarrow = spreadOf(old) + spreadOf(now) <= DEFAULTS.narrow * Math.abs(shift);
  if (!isNarrow && asked.some(({ size }) => size < DEFAULTS.questions)) return null;
  const isSameAnswer = now.some((log, i) =>
    old.some((other, j) => questions[at + i] === questions[j] && Math.abs(log - other) <= DEFAULTS.same),
  );
  return isSameAnswer ? null : { length, factor: 10 ** shift, before, after, chance };
}

/** Null where it is not small enough. */
function chanceOf(old: readonly number[], now: readonly number[]): number | null {
  const isApart = Math.max(...old) < Math.min(...now) || Math.max(...now) < Math.min(...old);
  if (isApart) {
    let chance = 2;
    for (let i = 1; i <= now.length; i++) chance *= i / (old.length + i);
    return chance <= DEFAULTS.chance ? chance : null;
  }
  const [n, m] = [old.length, now.length];
  let above = 0;
  for (const a of now) for (const b of old) above += a > b ? 1 : a === b ? 0.5 : 0;
  const z = Math.abs(above - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
  // Of a normal tail: exp(-z^2 / 2) bounds both sides together.
  return z >= DEFAULTS.leastZ ? Math.exp(-(z * z) / 2) : null;
}

function isMoving(side: readonly number[], shift: number): boolean {
  const middle = side.length >> 1;
  const moved = medianOf(side.slice(middle)) - medianOf(side.slice(0, middle));
  return Math.abs(moved) > DEFAULTS.drifting * Math.abs(shift);
}

function spreadOf(side: readonly number[]): number {
  return Math.max(...side) - Math.min(...side);
}
