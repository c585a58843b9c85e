import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type ErrorCode, PmlError } from '../../../core/vocabulary/pml-error.ts';
import type { Gateway } from '../../../engine/gateway.ts';
import type { Logger } from '../../../engine/ports.ts';
import { capabilityRoutes } from './capabilities.ts';
import { type EventOptions, eventRoutes } from './events.ts';
import { executeRoutes } from './execute.ts';
import { graphRoutes } from './graph.ts';
import { learningRoutes } from './learning.ts';
import { liveRunRoutes } from './live-runs.ts';
import { overviewRoutes } from './overview.ts';
import { peopleRoutes } from './people.ts';
import { runRoutes } from './runs.ts';
import { searchRoutes } from './search.ts';
import { traceRoutes } from './traces.ts';

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

/** `/api`: JSON in snake_case, errors as `{error: {code, message, hint}}`. Mounted behind the token. */
export function createApi(gateway: Gateway, logger: Logger, events: EventOptions = {}): Hono {
  const api = new Hono();
  api.onError((error, context) => {
    const problem = PmlError.from(error);
    const status = STATUS[problem.code] ?? 500;
    if (status === 500)
      logger.log('error', 'A request failed', { path: context.req.path, error: error.message });
    return context.json({ error: problem.toShape() }, status);
  });
  const lastEventId = eventRoutes(api, gateway, events);
  overviewRoutes(api, gateway, lastEventId);
  liveRunRoutes(api, gateway, lastEventId);
  searchRoutes(api, gateway);
  executeRoutes(api, gateway);
  capabilityRoutes(api, gateway);
  graphRoutes(api, gateway);
  learningRoutes(api, gateway);
  runRoutes(api, gateway);
  traceRoutes(api, gateway);
  peopleRoutes(api, gateway);
  return api;
}
