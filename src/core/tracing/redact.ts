import {
  createTextSearch,
  type FoundSecrets,
  formsOf,
  MIN_SECRET_LENGTH,
  type Span,
  type TextSearch,
} from './found-secrets.ts';
import { isSecretGroup, isSecretName } from './known-secrets.ts';
import { findShapes, isSecretFlag } from './secret-shapes.ts';

export const REDACTED = '[redacted]';
const CIRCULAR = '[circular]';
const TOO_DEEP = '[too deep]';
const UNREADABLE = '[unreadable]';
/** Texts that replace a whole value; they do not count towards the limits. */
const MARKERS = new Set([REDACTED, CIRCULAR, TOO_DEEP, UNREADABLE, '[function]', '[symbol]']);
/** Marker of an earlier cut: a text that ends with it is not cut again because of the marker's length. */
const CUT_TEXT = /…\[cut \d+ bytes\]$/;
const CUT_ITEMS = /^\[cut \d+ items\]$/;
const CUT_KEYS = '[cut]';
const CUT_KEYS_COUNT = /^\d+ keys$/;
/** The number that keeps two hidden keys distinct. */
const NUMBERED = /(\[redacted\]|\[cut \d+ bytes\]) \d+$/;

/** Any of the above, within JSON. */
const ANY_MARKER =
  /\[redacted\]|\[cut(?: \d{1,12} (?:bytes|items))?\]|\[circular\]|\[too deep\]|\[unreadable\]|\[function\]|\[symbol\]/;

/** Whether nothing of a stored value was hidden or cut. A text that looks like a marker counts as one. */
export function isWhole(stored: unknown): boolean {
  return !ANY_MARKER.test(JSON.stringify(stored) ?? '');
}

/**
 * A stored value without what was hidden or cut, which nobody knows: fields are left out, and items of lists are null, so
 * that the others stay in their places.
 */
export function knownPart(stored: unknown): unknown {
  return isWhole(stored) ? stored : known(stored);

  function known(value: unknown): unknown {
    if (typeof value === 'string') return ANY_MARKER.test(value) ? undefined : value;
    if (Array.isArray(value)) return value.map((item) => known(item) ?? null);
    if (value === null || typeof value !== 'object') return value;
    const fields = Object.entries(value).map(([name, item]) => [name, known(item)] as const);
    return Object.fromEntries(
      fields.filter(([name, item]) => item !== undefined && !ANY_MARKER.test(name) && name !== CUT_KEYS),
    );
  }
}

const DEFAULTS = {
  /** Longest string kept, in UTF-16 units. */
  maxString: 64 * 1024,
  /** All strings of one value together, in UTF-16 units. */
  maxText: 1024 * 1024,
  maxDepth: 64,
  /** Objects, lists and leaves of one value together. */
  maxNodes: 100_000,
};
type RedactLimits = typeof DEFAULTS;

/**
 * A string stays a string; any other value comes back as a JSON-like copy of the same shape. Recognised
 * secrets are added to `found`, and secrets already in `found` are hidden wherever they occur.
 */
export interface Redactor {
  (text: string, found?: FoundSecrets): string;
  (value: unknown, found?: FoundSecrets): unknown;
}

/**
 * Hides the given secrets, in any of their spellings, and whatever looks like a credential, in any
 * JSON-like value: keys, values, text inside text. The input is never changed; what is too long,
 * too deep or circular is cut with a marker that says so.
 */
export function createRedactor(secrets: Iterable<string>, limits: Partial<RedactLimits> = {}): Redactor {
  const { maxString, maxText, maxDepth, maxNodes } = { ...DEFAULTS, ...limits };
  const known = knownValues(secrets);

  function redact(value: unknown, found?: FoundSecrets): unknown {
    const known = found?.size ?? 0;
    const clean = redactOnce(value, found);
    // A secret recognised late in the value may also occur earlier in it.
    return found && found.size > known ? redactOnce(value, found) : clean;
  }

  function redactOnce(value: unknown, found: FoundSecrets | undefined): unknown {
    found?.look();
    const ancestors = new Set<object>();
    let text = maxText;
    let nodes = maxNodes;
    return visit(value, false, 0);

    /** `secret`: the value belongs to a name such as `password`, so all its leaves are hidden. */
    function visit(value: unknown, secret: boolean, depth: number): unknown {
      nodes--;
      switch (typeof value) {
        case 'string':
          return string(value, secret);
        case 'number':
        case 'bigint':
          if (secret) found?.add(String(value));
          if (secret || known.values.has(String(value)) || found?.has(String(value))) return REDACTED;
          return typeof value === 'bigint' ? String(value) : value;
        case 'object':
          return value === null ? null : container(value, secret, depth);
        case 'function':
        case 'symbol':
          return `[${typeof value}]`;
        default:
          return value;
      }
    }

    function string(value: string, secret: boolean): string {
      if (value === '') return value;
      if (MARKERS.has(value)) return secret ? REDACTED : value;
      if (secret) found?.add(value);
      if (secret || found?.has(value)) return REDACTED;
      const clean = redactUncut(value, Math.min(maxString, Math.max(0, text)), known, found);
      if (!MARKERS.has(clean)) text -= clean.length;
      return clean;
    }

    function container(value: object, secret: boolean, depth: number): unknown {
      if (ancestors.has(value)) return CIRCULAR;
      if (depth >= maxDepth) return TOO_DEEP;
      ancestors.add(value);
      try {
        return copy(value, secret, depth + 1);
      } catch {
        // A getter, proxy or toJSON threw: this value cannot be shown, the rest can.
        return UNREADABLE;
      } finally {
        ancestors.delete(value);
      }
    }

    function copy(value: object, secret: boolean, depth: number): unknown {
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
      if (Array.isArray(value)) return list(value, secret, depth);
      if (value instanceof Map) return record([...value].map(keyToString), secret, depth);
      if (value instanceof Set) return list([...value], secret, depth);
      if ('toJSON' in value && typeof value.toJSON === 'function')
        return visit(value.toJSON(), secret, depth);
      const entries = Object.entries(value instanceof Error ? errorFields(value) : value);
      return record(entries, secret && !isJsonSchema(value), depth);
    }

    function list(items: readonly unknown[], secret: boolean, depth: number): unknown[] {
      const last = items.at(-1);
      const marker = typeof last === 'string' && CUT_ITEMS.test(last) ? last : null;
      const length = marker === null ? items.length : items.length - 1;
      const kept = Math.min(length, Math.max(0, nodes));
      const copied: unknown[] = [];
      for (let index = 0; index < kept; index++) {
        const before = items[index - 1];
        const flagged = typeof before === 'string' && (isSecretFlag(before) || HEADER.test(before));
        copied.push(visit(items[index], secret || (flagged && typeof items[index] === 'string'), depth));
      }
      if (kept < length) copied.push(`[cut ${items.length - kept} items]`);
      else if (marker !== null) copied.push(marker);
      return copied;
    }

    function record(entries: readonly [string, unknown][], secret: boolean, depth: number): object {
      const copied = new Map<string, unknown>();
      const [lastKey, last] = entries.at(-1) ?? [];
      const marker =
        lastKey === CUT_KEYS && typeof last === 'string' && CUT_KEYS_COUNT.test(last) ? last : null;
      const length = marker === null ? entries.length : entries.length - 1;
      const kept = Math.min(length, Math.max(0, nodes));
      const isNamed = entries.some(
        ([key, item]) => ENTRY_NAMES.has(key) && typeof item === 'string' && isSecretName(item),
      );
      for (const [key, item] of entries.slice(0, kept)) {
        const name = freeName(string(key.replace(NUMBERED, '$1'), false), copied);
        const isGroup = typeof item === 'object' && item !== null && !Array.isArray(item);
        const isSecret = isGroup
          ? isSecretGroup(key)
          : isSecretName(key) || (isNamed && ENTRY_VALUES.has(key));
        copied.set(name, visit(item, secret || isSecret, depth));
      }
      if (kept < length) copied.set(CUT_KEYS, `${entries.length - kept} keys`);
      else if (marker !== null) copied.set(CUT_KEYS, marker);
      return Object.fromEntries(copied);
    }
  }

  return redact as Redactor;
}

interface KnownValues {
  readonly values: ReadonlySet<string>;
  /** Finds the values in all their spellings. */
  readonly search: TextSearch;
}

/** `{ name: "DB_PASSWORD", value: "…" }` */
const ENTRY_NAMES = new Set(['name', 'key', 'field', 'header', 'variable', 'Name', 'Key']);
const ENTRY_VALUES = new Set(['value', 'Value', 'val', 'default']);
/** In a list of headers, the value is the next item. */
const HEADER = /^(?:proxy-)?authorization$|^(?:set-)?cookie$|^x-api-key$|^x-auth-token$/i;

function knownValues(secrets: Iterable<string>): KnownValues {
  const markers = REDACTED + CIRCULAR + TOO_DEEP + UNREADABLE;
  // A secret that is part of a marker cannot be hidden by the marker.
  const values = new Set(
    [...secrets].filter((s) => s.trim().length >= MIN_SECRET_LENGTH && !markers.includes(s)),
  );
  return { values, search: createTextSearch([...values].flatMap(formsOf)) };
}

/** How far past the cut credentials are searched for, so that the cut leaves no part of one. */
const LOOKAHEAD = 4096;

function redactUncut(text: string, max: number, known: KnownValues, found?: FoundSecrets): string {
  const marker = text.endsWith(' bytes]') ? (CUT_TEXT.exec(text)?.[0] ?? '') : '';
  const uncut = text.length - marker.length;
  if (marker === '' || uncut > max) return redactText(text, max, known, found);
  return redactText(text.slice(0, uncut), max, known, found) + marker;
}

function redactText(text: string, max: number, { search }: KnownValues, found?: FoundSecrets): string {
  if (text.length < MIN_SECRET_LENGTH && text.length <= max) return text;
  const lookahead = Math.max(LOOKAHEAD, search.longest, found?.longest ?? 0);
  const window = text.length > max ? text.slice(0, max + lookahead) : text;
  const shapes = findShapes(window);
  for (const [from, to] of found ? shapes : []) {
    const secret = window.slice(from, to);
    if (!secret.includes(REDACTED)) found?.add(secret);
  }
  const spans = merge([...search.findIn(window), ...(found?.findIn(window) ?? []), ...shapes]);
  if (spans.length === 0 && text.length <= max) return text;
  let clean = '';
  let at = 0;
  for (const [from, to] of spans) {
    if (clean.length + from - at + REDACTED.length > max) break;
    clean += text.slice(at, from) + REDACTED;
    at = to;
  }
  const next = spans.find(([from]) => from >= at)?.[0] ?? text.length;
  const end = Math.min(next, cutPoint(text, at + Math.max(0, max - clean.length)));
  clean += text.slice(at, end);
  return end < text.length ? `${clean}…[cut ${utf8Length(text, end)} bytes]` : clean;
}

function merge(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  if (spans.length === 0) return merged;
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], to)];
    else merged.push([from, to]);
  }
  return merged;
}

/** Never between the two halves of a surrogate pair. */
function cutPoint(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const code = text.charCodeAt(max - 1);
  return code >= 0xd800 && code <= 0xdbff ? max - 1 : max;
}

/** Bytes of `text` from `start` on, counted without a copy. */
function utf8Length(text: string, start: number): number {
  let bytes = 0;
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index);
    // Each half of a surrogate pair stands for two of its four bytes.
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 2 : 3;
  }
  return bytes;
}

/** Two hidden keys must not become one. */
function freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name;
  let count = 2;
  while (taken.has(`${name} ${count}`)) count++;
  return `${name} ${count}`;
}

function keyToString([key, item]: [unknown, unknown]): [string, unknown] {
  return [typeof key === 'string' ? key : (JSON.stringify(key) ?? String(key)), item];
}

/** Leaves out the stack, which repeats the message and contains local paths. */
function errorFields(error: Error): object {
  const { name, message, cause } = error;
  return Object.assign({ name, message }, cause === undefined ? {} : { cause }, error);
}

const SCHEMA_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const SCHEMA_WORDS = new Set(
  'type title description format minLength maxLength pattern properties required items additionalProperties minimum maximum writeOnly readOnly nullable'.split(
    ' ',
  ),
);

/** The description of a parameter called `password` is not a password. */
function isJsonSchema(value: object): boolean {
  const type = (value as { type?: unknown }).type;
  return (
    typeof type === 'string' &&
    SCHEMA_TYPES.has(type) &&
    Object.keys(value).every((key) => SCHEMA_WORDS.has(key))
  );
}
