import { z } from 'zod';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { AnyOperation } from './operation.ts';

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
