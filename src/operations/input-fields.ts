import { z } from 'zod';
import { PmlError } from '../core/vocabulary/pml-error.ts';
import type { AnyOperation } from './operation.ts';

/** What surfaces know of one field of an input. */
export interface InputField {
  readonly name: string;
  /** JSON Schema, with what a caller may give. */
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

/** What was sent, checked; `spelling` says what fields are called where it was sent. */
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
    hint: `It takes ${Object.keys(schema.shape).map(spelling).join(', ') || 'nothing'}.`,
  });
}
