import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorCode, PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Caller, Gateway } from '../../../engine/gateway.ts';
import { may, maySee } from '../../../engine/people/roles.ts';
import type { Logger } from '../../../engine/ports.ts';
import type { NumberedEvent } from '../../../engine/traces/event-log.ts';
import { type InputField, inputFields, readInput } from '../../../operations/input-fields.ts';
import { openApi } from '../../../operations/openapi.ts';
import type { AnyOperation, HttpFile, HttpRoute } from '../../../operations/operation.ts';
import { type OperationContext, operationContext } from '../../../operations/operation-context.ts';
import { OPERATIONS } from '../../../operations/table.ts';
import { type EventStreamOptions, followEvents } from '../event-stream.ts';
import { loginsOf, whoIs } from '../guard.ts';

/** Other codes are internal errors (500). */
const STATUS: Partial<Record<ErrorCode, ContentfulStatusCode>> = {
  invalid_argument: 400,
  invalid_id: 400,
  usage: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  not_available: 409,
  store_conflict: 409,
  cancelled: 409,
  too_large: 413,
  upstream_error: 502,
  upstream_unavailable: 502,
  store_unavailable: 503,
  embedding_unavailable: 503,
  upstream_timeout: 504,
};

export interface ApiOptions extends EventOptions {
  /** The operations to offer; by default all. */
  readonly operations?: readonly AnyOperation[];
  /** By default a new one. */
  readonly context?: OperationContext;
  /** Version in the OpenAPI document. */
  readonly version?: string;
}

/** `/api`: JSON in snake_case, errors as `{error: {code, message, hint}}`. Mounted behind authentication. */
export function createApi(gateway: Gateway, logger: Logger, options: ApiOptions = {}): Hono {
  const { operations = OPERATIONS, version = '0' } = options;
  const api = new Hono();
  api.onError((error, context) => {
    const problem = PmlError.from(error);
    const status = STATUS[problem.code] ?? 500;
    if (status === 500)
      logger.log('error', 'A request failed', { path: context.req.path, error: error.message });
    return context.json({ error: problem.toShape() }, status);
  });
  const context = options.context ?? operationContext(gateway, randomUUID().slice(0, 8));
  eventRoutes(api, gateway, context.life, options);
  api.get('/openapi.json', (asked) => asked.json(openApi(operations, version)));
  // Starts recording now, so that runs are known even before the first request.
  context.liveRuns();
  mountOperations(api, operations, context);
  return api;
}

export interface EventOptions extends Pick<EventStreamOptions, 'heartbeatMs' | 'maxBehind'> {}

/** `/api/events`: an event stream, which an operation cannot be. */
function eventRoutes(api: Hono, { events }: Gateway, life: string, options: EventOptions): void {
  api.get('/events', (context) => {
    const after = context.req.header('last-event-id') ?? context.req.query('since');
    const { outgoing } = (context.env ?? {}) as Partial<HttpBindings>;
    context.header('X-Accel-Buffering', 'no');
    const who = whoIs(context);
    const mayHear = ({ ownership }: NumberedEvent) => maySee(who, ownership);
    return streamSSE(context, async (stream) => {
      const ended = new AbortController();
      stream.onAbort(() => ended.abort());
      // Closes the socket itself: a write to a stalled reader never ends.
      const onSlow = () => {
        ended.abort();
        stream.abort();
        outgoing?.destroy();
      };
      const messages = followEvents(events, {
        ...options,
        life,
        after,
        signal: ended.signal,
        onSlow,
        mayHear,
      });
      const leave = may(who, 'decide') ? events.attend() : () => {};
      try {
        for await (const message of messages) await stream.writeSSE(message);
      } finally {
        leave();
      }
    });
  });
}

/** Mounts the route of each operation that has one, and all operations by name. */
function mountOperations(api: Hono, operations: readonly AnyOperation[], shared: OperationContext): void {
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
