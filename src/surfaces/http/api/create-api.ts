import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorCode, PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import { may, maySee } from '../../../engine/people/roles.ts';
import type { Logger } from '../../../engine/ports.ts';
import type { NumberedEvent } from '../../../engine/traces/event-log.ts';
import { openApi } from '../../../operations/openapi.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { type OperationContext, operationContext } from '../../../operations/operation-context.ts';
import { OPERATIONS } from '../../../operations/table.ts';
import { type EventStreamOptions, followEvents } from '../event-stream.ts';
import { whoIs } from '../guard.ts';
import { mountOperations } from '../mount-operations.ts';

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
