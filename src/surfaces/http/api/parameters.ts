import type { Context } from 'hono';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';

/** A whole number from 1 to `max` of the query. */
export function countParameter(context: Context, name: string, fallback: number, max: number): number {
  const text = context.req.query(name);
  if (text === undefined) return fallback;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw new PmlError('invalid_argument', `"${name}" must be a whole number from 1 to ${max}`);
}

/** A text of the query; an empty one counts as none. */
export function textParameter(context: Context, name: string): string | undefined {
  return context.req.query(name) || undefined;
}
