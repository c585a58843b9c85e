import type { Context, Hono } from 'hono';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Caller } from '../../engine/gateway.ts';
import { may } from '../../engine/people/roles.ts';
import { type InputField, inputFields, readInput } from '../../operations/input-fields.ts';
import type { AnyOperation, HttpFile, HttpRoute } from '../../operations/operation.ts';
import type { OperationContext } from '../../operations/operation-context.ts';
import { loginsOf, whoIs } from './guard.ts';

/** Mounts the route of each operation that has one, and all operations by name. */
export function mountOperations(
  api: Hono,
  operations: readonly AnyOperation[],
  shared: OperationContext,
): void {
  const answer = async (context: Context, operation: AnyOperation, input: unknown) => {
    const logins = loginsOf(context);
    return await operation.run({ ...shared, ...(logins && { logins }) }, input, callerOf(context));
  };
  for (const operation of operations) {
    const { http, name } = operation;
    api.post(`/operations/${name}`, async (context) => {
      const input = readInput(operation.input, await bodyOf(context));
      return context.json(await answer(context, operation, input));
    });
    if (!http) continue;
    const read = http.method === 'GET' ? queryReader(operation, http) : bodyReader(operation, http);
    api.on(http.method, http.path, async (context) => {
      const file = fileAsked(context, http);
      const output = await answer(context, operation, await read(context));
      if (!file) return context.json(output);
      return context.body(file.write(output), 200, {
        'content-type': file.mediaType,
        'content-disposition': `attachment; filename="${name.replace(/^get_/, '')}.${file.format}"`,
      });
    });
  }
}

/** The caller of a request: it has no session, and its work is cancelled when the request is. */
function callerOf(context: Context): Caller {
  const who = whoIs(context);
  return { sessionId: null, signal: context.req.raw.signal, isPerson: may(who, 'decide'), who };
}

type Reader = (context: Context) => Promise<unknown>;

/** Reads fields from path and query; unknown query parameters are ignored. */
function queryReader(operation: AnyOperation, http: HttpRoute): Reader {
  const spelling = (field: string) => http.query?.[field] ?? field;
  const fields = inputFields(operation);
  return async (context) => {
    const given = fields.flatMap((field) => {
      const inPath = context.req.param(field.name);
      const texts = inPath === undefined ? (context.req.queries(spelling(field.name)) ?? []) : [inPath];
      // An empty text counts as absent, and only lists can be repeated.
      const [text, ...more] = texts.filter(Boolean);
      if (text === undefined) return [];
      return [[field.name, more.length > 0 && mayRepeat(field) ? [text, ...more] : typed(text, field)]];
    });
    return readInput(operation.input, Object.fromEntries(given), spelling);
  };
}

/** Converts a query text to its field's type; text that does not convert is left for the schema to reject. */
function typed(text: string, { schema: { type } }: InputField): unknown {
  if (type === 'boolean') return text === '1' || text === 'true';
  if (type === 'array') return text.split(',');
  if (type !== 'integer' && type !== 'number') return text;
  return Number.isNaN(Number(text)) ? text : Number(text);
}

/** Whether the field accepts one or several texts. */
function mayRepeat({ schema: { anyOf } }: InputField): boolean {
  return Array.isArray(anyOf) && anyOf.some(({ type }: { type?: string }) => type === 'array');
}

/** Reads fields from the path and all others from the body. */
function bodyReader({ input }: AnyOperation, { path }: HttpRoute): Reader {
  const inPath = path.split('/').flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : []));
  const body = input.omit(Object.fromEntries(inPath.map((field) => [field, true])));
  return async (context) => ({
    ...readInput(body, await bodyOf(context)),
    ...Object.fromEntries(inPath.map((field) => [field, context.req.param(field)])),
  });
}

/** An empty body is an empty object. */
async function bodyOf(context: Context): Promise<unknown> {
  const text = await context.req.text();
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PmlError('invalid_argument', `The body is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** The requested file format; without one, the response is the output itself. */
function fileAsked(
  context: Context,
  { files }: HttpRoute,
): (HttpFile<unknown> & { readonly format: string }) | undefined {
  const format = context.req.query('format');
  if (!files || !format) return undefined;
  const file = Object.hasOwn(files, format) ? (files[format] as HttpFile<unknown>) : undefined;
  if (file) return { ...file, format };
  throw new PmlError('invalid_argument', `Unknown format ${format}`, {
    hint: `Known formats: ${Object.keys(files).join(', ')}.`,
  });
}
