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

/** One of a few words. */
export function choiceParameter<T extends string>(
  context: Context,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = textParameter(context, name);
  if (text === undefined) return undefined;
  const chosen = choices.find((choice) => choice === text);
  if (chosen !== undefined) return chosen;
  throw new PmlError('invalid_argument', `"${name}" must be one of ${choices.join(', ')}`);
}

/** A date, with or without the time. */
export function momentParameter(context: Context, name: string): Date | undefined {
  const text = textParameter(context, name);
  if (text === undefined) return undefined;
  const moment = new Date(text);
  if (!Number.isNaN(moment.getTime())) return moment;
  throw new PmlError('invalid_argument', `"${name}" is no date: ${text}`, {
    hint: 'Write it as 2026-11-15T09:30:00Z.',
  });
}
