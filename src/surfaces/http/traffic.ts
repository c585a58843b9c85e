import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { refuse } from './guard.ts';

const DEFAULTS = {
  /** How long a refused client is told to wait, in seconds. */
  retryAfterS: 5,
};

/** They say how the gateway is, also while it ends. */
const ALWAYS = new Set(['/healthz', '/readyz', '/metrics']);

export interface Answered {
  readonly method: string;
  /** As it was registered; `other` for what leads nowhere. */
  readonly route: string;
  readonly status: number;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** What comes in, told when it is answered, and turned away once the gateway ends. */
export interface Traffic {
  readonly middleware: MiddlewareHandler;
  /** Requests whose answer has not begun. */
  waiting(): number;
  /** Turns new work away from now on. */
  stop(): void;
  isStopping(): boolean;
}

export function createTraffic(onAnswered: (answered: Answered) => void): Traffic {
  let waiting = 0;
  let isStopping = false;
  return {
    waiting: () => waiting,
    isStopping: () => isStopping,
    stop() {
      isStopping = true;
    },

    middleware: async (context, next) => {
      const { method, path } = context.req;
      if (isStopping && !ALWAYS.has(path)) {
        context.header('Retry-After', String(DEFAULTS.retryAfterS));
        return refuse(context, 503, 'stopping', 'This gateway is ending', 'Try again in a moment.');
      }
      const startedAt = new Date();
      const began = performance.now();
      waiting += 1;
      try {
        await next();
      } finally {
        waiting -= 1;
      }
      const durationMs = performance.now() - began;
      onAnswered({ method, route: routeOf(context), status: context.res.status, startedAt, durationMs });
      return undefined;
    },
  };
}

/** Only what was registered, or anybody could make up as many as there are paths. */
function routeOf(context: Context): string {
  const route = routePath(context, -1);
  return route.includes('*') ? 'other' : route;
}
