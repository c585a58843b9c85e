import type { Right } from '../../engine/people/roles.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import { OPERATIONS } from '../../operations/table.ts';

/** What is not an operation: pages, streams, and other protocols. */
const OTHERS: readonly RouteRight[] = [
  { method: 'GET', path: '/', right: 'read' },
  { method: 'GET', path: '/metrics', right: 'read' },
  { method: 'POST', path: '/bridge', right: 'bridge' },
  { method: '*', path: '/mcp', right: 'run' },
  { method: '*', path: '/mcp/servers/:name', right: 'run' },
  { method: 'GET', path: '/api/events', right: 'read' },
  { method: 'GET', path: '/api/openapi.json', right: 'read' },
];

interface RouteRight {
  readonly method: string;
  readonly path: string;
  readonly right: Right;
}

export interface RouteRights {
  /** What a request needs. Routes that are not listed are for callers who manage. */
  rightFor(method: string, path: string): Right;
  /** Whether a route, as it was registered, has a right of its own. */
  isListed(method: string, path: string): boolean;
}

export function routeRights(operations: readonly AnyOperation[] = OPERATIONS): RouteRights {
  const routes = [...OTHERS, ...operations.flatMap(routesOf)];
  const table = routes.map((route) => ({ ...route, matches: matcher(route.path) }));
  return {
    rightFor(method, path) {
      // A HEAD request shows what a GET would, but for the body.
      const asked = method === 'HEAD' ? 'GET' : method;
      const found = table.find(
        (route) => (route.method === '*' || route.method === asked) && route.matches(path),
      );
      return found?.right ?? 'manage';
    },
    isListed(method, path) {
      return table.some((route) => route.path === path && (route.method === '*' || route.method === method));
    },
  };
}

/** Its own route, and the one that all have by name. */
function routesOf({ name, right, http }: AnyOperation): RouteRight[] {
  const byName = { method: 'POST', path: `/api/operations/${name}`, right };
  return http ? [{ method: http.method, path: `/api${http.path}`, right }, byName] : [byName];
}

/** `:name` stands for one part of the path. */
function matcher(path: string): (given: string) => boolean {
  const parts = path.split('/');
  return (given) => {
    const asked = given.split('/');
    return (
      asked.length === parts.length &&
      parts.every((part, i) => (part.startsWith(':') ? asked[i] !== '' : part === asked[i]))
    );
  };
}
