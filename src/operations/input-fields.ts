import { z } from 'zod';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { AnyOperation } from './operation.ts';

/** Fields shared by several inputs. */

const DEFAULTS = { maxTimeoutMs: 24 * 60 * 60_000 };

/** Maximum number of results. */
export function count(usual: number, most: number) {
  const error = `must be a whole number from 1 to ${most}`;
  return z.int({ error }).min(1, { error }).max(most, { error }).default(usual);
}

/** A date, with or without the time. */
export const moment = z.string().transform((text, context) => {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  context.addIssue({ code: 'custom', message: `not a date: ${text}; use a form like 2026-11-15T09:30:00Z` });
  return z.NEVER;
});

export const jsonObject = z.record(z.string(), z.unknown());

/** By name, alias or id. */
export const slug = z.string().min(1);

/** Fields of every kind of call. */
export const callFields = {
  arguments: jsonObject.default({}),
  intent: z.string().min(1).optional(),
  timeout_ms: z.int().min(1).max(DEFAULTS.maxTimeoutMs).optional(),
};

/** Converts a call to the engine's form. */
export function callOf(call: {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly intent?: string | undefined;
  readonly timeout_ms?: number | undefined;
}) {
  const { timeout_ms: timeoutMs, intent, arguments: args } = call;
  return {
    arguments: args,
    ...(intent !== undefined && { intent }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

/** One field of an input, as surfaces see it. */
export interface InputField {
  readonly name: string;
  /** JSON Schema of the accepted values. */
  readonly schema: { readonly type?: string } & Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
}

export function inputFields({ input }: Pick<AnyOperation, 'input'>): readonly InputField[] {
  const { properties = {}, required = [] } = jsonSchema(input, 'input') as {
    properties?: Readonly<Record<string, InputField['schema']>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    isRequired: required.includes(name),
  }));
}

export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io }) as Record<string, unknown>;
  return rest;
}

/** Validates an input; `spelling` maps field names to those of the caller's surface. */
export function readInput<T extends z.ZodObject>(
  schema: T,
  sent: unknown,
  spelling: (field: string) => string = (field) => field,
): z.output<T> {
  const checked = schema.safeParse(sent);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(({ path: [field, ...rest], message }) => {
    const at = field === undefined ? 'body' : [spelling(String(field)), ...rest].join('.');
    return `${at}: ${message}`;
  });
  throw new PmlError('invalid_argument', problems.join('; '), {
    hint: `Fields: ${Object.keys(schema.shape).map(spelling).join(', ') || 'none'}.`,
  });
}
