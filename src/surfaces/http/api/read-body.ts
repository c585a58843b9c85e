import type { Context } from 'hono';
import type { z } from 'zod';
import { PmlError } from '../../../core/vocabulary/pml-error.ts';

/** The body of a request; an empty one is an empty object. */
export async function readBody<T extends z.ZodObject>(context: Context, schema: T): Promise<z.infer<T>> {
  const checked = schema.safeParse(parsed(await context.req.text()));
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new PmlError('invalid_argument', problems.join('; '), {
    hint: `It takes ${Object.keys(schema.shape).join(', ')}.`,
  });
}

function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PmlError('invalid_argument', `The body is no JSON: ${(cause as Error).message}`, { cause });
  }
}
