import type { z } from 'zod';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';
import { nearestName } from '../../../engine/catalogue/catalogue.ts';
import type { JsonObject } from '../../../engine/ports.ts';

const STRUCTURED = new Set(['object', 'array', 'integer', 'number', 'boolean']);

/**
 * Arguments as models send them: whole or in parts as JSON in a string. Throws with every field that
 * is wrong and the form it should have.
 */
export function readArguments<T extends z.ZodObject>(
  tool: string,
  schema: T,
  published: JsonObject,
  sent: unknown,
): z.infer<T> {
  const args = parsed(sent ?? {}, 'object');
  if (!isObject(args)) {
    throw new PmlError('invalid_argument', `${tool} takes its arguments as an object, not ${formOf(args)}`);
  }
  const properties = published.properties as Readonly<Record<string, { readonly type?: string }>>;
  const loosened = Object.entries(args)
    // Some clients fill in what was left out.
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, parsed(value, properties[name]?.type)]);
  const checked = schema.safeParse(Object.fromEntries(loosened));
  const names = Object.keys(properties);
  // A misspelt limit that is silently ignored limits nothing.
  const strangers = loosened.map(([name]) => String(name)).filter((name) => !names.includes(name));
  if (checked.success && strangers.length === 0) return checked.data;
  const problems = (checked.error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`,
  );
  const slips = strangers.map((name) => {
    const nearest = nearestName(name, names);
    return `Unknown argument "${name}"${nearest === null ? '' : `, did you mean "${nearest}"?`}`;
  });
  throw new PmlError('invalid_argument', `${tool}: ${[...problems, ...slips].join('; ')}`, {
    hint: `Arguments: ${names.join(', ')}.`,
  });
}

/** The value meant by a string where something else is wanted; the string itself when there is none. */
function parsed(value: unknown, wanted: string | undefined): unknown {
  if (typeof value !== 'string' || wanted === undefined || !STRUCTURED.has(wanted)) return value;
  try {
    const read: unknown = JSON.parse(value);
    return typeof read === 'string' && read !== value ? parsed(read, wanted) : read;
  } catch {
    if (wanted !== 'array') return value;
    return value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function formOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'text that does not parse as JSON' : `a ${typeof value}`;
}
