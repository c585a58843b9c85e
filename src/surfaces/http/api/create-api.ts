import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorCode, PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { Logger } from '../../../engine/ports.ts';
import { openApi } from '../../../operations/openapi.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { type OperationContext, operationContext } from '../../../operations/operation-context.ts';
import { OPERATIONS } from '../../../operations/table.ts';
import { mountOperations } from '../mount-operations.ts';
import { type EventOptions, eventRoutes } from './events.ts';

/** What is not listed is a failure of ours. */
const STATUS: Partial<Record<ErrorCode, ContentfulStatusCode>> = {
  invalid_argument: 400,
  invalid_id: 400,
  usage: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
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
  /** What is offered; absent: all that PML can be asked. */
  readonly operations?: readonly AnyOperation[];
  /** Absent: one of its own. */
  readonly context?: OperationContext;
  /** As the OpenAPI document tells it. */
  readonly version?: string;
}

/** `/api`: JSON in snake_case, errors as `{error: {code, message, hint}}`. Mounted behind the token. */
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
  // From now on, so that no run is missed that begins before anybody asks.
  context.liveRuns();
  mountOperations(api, operations, context);
  return api;
}
