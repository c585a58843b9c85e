import { PmlError } from '../../vocabulary/pml-error.ts';

const WHOLE = /^\$\{([^{}]+)\}$/;
const INSIDE = /\$\{([^{}]+)\}/g;

/** Ids of the tasks whose results an argument uses. */
export function referencedTasks(value: unknown): string[] {
  const found = new Set<string>();
  visit(value, (text) => {
    for (const [, path] of text.matchAll(INSIDE)) found.add(stepsOf(path ?? '')[0] ?? '');
  });
  return [...found];
}

/** A text split into literal parts and references, in order. */
export type TextPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reference'; readonly path: string };

export function referenceParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(INSIDE)) {
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) });
    parts.push({ kind: 'reference', path: match[1] ?? '' });
    end = match.index + match[0].length;
  }
  if (end < text.length || parts.length === 0) parts.push({ kind: 'text', text: text.slice(end) });
  return parts;
}

/** Whether a value is one reference and nothing else. */
export function isReference(value: unknown): value is string {
  return typeof value === 'string' && WHOLE.test(value);
}

/**
 * Fills in `${t1.items[0].id}`: a string that is nothing else takes the value with its type, inside
 * a longer string it is interpolated.
 */
export function resolveReferences(value: unknown, results: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string') {
    const whole = WHOLE.exec(value)?.[1];
    if (whole !== undefined) return lookUp(whole, results);
    return value.replace(INSIDE, (_, path: string) => {
      const found = lookUp(path, results);
      return typeof found === 'string' ? found : JSON.stringify(found);
    });
  }
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, results));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [key, resolveReferences(field, results)]),
    );
  }
  return value;
}

function lookUp(path: string, results: Readonly<Record<string, unknown>>): unknown {
  const steps = stepsOf(path);
  let current: unknown = results;
  for (const [i, step] of steps.entries()) {
    const isThere = current !== null && typeof current === 'object' && Object.hasOwn(current, step);
    if (!isThere) {
      throw new PmlError('invalid_argument', `\${${path}} leads nowhere: "${step}" not found`, {
        hint: i === 0 ? 'The first part names a task.' : `${steps.slice(0, i).join('.')} has no such field.`,
      });
    }
    current = (current as Record<string, unknown>)[step];
  }
  return current;
}

/** `t1.items[0]["odd name"]` -> t1, items, 0, odd name */
export function stepsOf(path: string): string[] {
  return [...path.matchAll(/[^.[\]"']+|\["([^"]*)"\]|\['([^']*)'\]/g)].map(
    ([plain, double, single]) => double ?? single ?? plain.trim(),
  );
}

function visit(value: unknown, onText: (text: string) => void): void {
  if (typeof value === 'string') onText(value);
  else if (value !== null && typeof value === 'object') {
    for (const field of Object.values(value)) visit(field, onText);
  }
}

export type Values = Readonly<Record<string, unknown>>;

export function found(value: unknown, values: Values): unknown {
  try {
    return resolveReferences(value, values);
  } catch {
    return undefined;
  }
}
