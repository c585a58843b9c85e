import type { Right } from '../../engine/people/roles.ts';

/** What a request needs. Whatever is not listed is for those who manage: a new route is closed until it is. */
const ROUTES: readonly (readonly [method: string, path: string, right: Right])[] = [
  ['GET', '/', 'read'],
  ['GET', '/metrics', 'read'],
  ['POST', '/bridge', 'bridge'],
  ['*', '/mcp', 'run'],
  ['*', '/mcp/servers/:name', 'run'],
  ['GET', '/api/me', 'read'],
  ['GET', '/api/stats', 'read'],
  ['GET', '/api/servers', 'read'],
  ['GET', '/api/activity', 'read'],
  ['GET', '/api/search', 'read'],
  ['GET', '/api/graph', 'read'],
  ['GET', '/api/node', 'read'],
  ['GET', '/api/path', 'read'],
  ['GET', '/api/events', 'read'],
  ['GET', '/api/live', 'read'],
  ['GET', '/api/traces', 'read'],
  ['GET', '/api/traces/:id', 'read'],
  ['GET', '/api/runs', 'read'],
  ['GET', '/api/runs/:id', 'read'],
  ['GET', '/api/capabilities', 'read'],
  ['GET', '/api/capabilities/:slug', 'read'],
  ['GET', '/api/capabilities/:slug/runs', 'read'],
  ['GET', '/api/capabilities/:slug/export', 'read'],
  ['GET', '/api/learning', 'read'],
  ['GET', '/api/learning/insight', 'read'],
  ['POST', '/api/suggest', 'run'],
  ['POST', '/api/suggestions/:id/reject', 'run'],
  ['POST', '/api/execute', 'run'],
  ['POST', '/api/workflows', 'run'],
  ['POST', '/api/runs/:id/resume', 'run'],
  ['POST', '/api/runs/:id/abort', 'run'],
  ['POST', '/api/capabilities/:slug/run', 'run'],
  // One's own; the flow looks.
  ['POST', '/api/capabilities/:slug/share', 'run'],
  ['POST', '/api/runs/:id/approve', 'decide'],
  ['POST', '/api/runs/:id/reject', 'decide'],
  ['POST', '/api/runs/:id/edit', 'decide'],
  ['POST', '/api/capabilities/:slug/keep-private', 'manage'],
  ['POST', '/api/capabilities/:slug/rename', 'manage'],
  ['POST', '/api/capabilities/:slug/quarantine', 'manage'],
  ['POST', '/api/capabilities/:slug/forget', 'manage'],
  ['POST', '/api/learning/train', 'manage'],
  ['POST', '/api/learning/rollback', 'manage'],
  ['GET', '/api/audit', 'manage'],
  ['GET', '/api/logins', 'manage'],
  ['POST', '/api/logins/:id/revoke', 'manage'],
  // One's own.
  ['POST', '/api/logout', 'read'],
];

const TABLE = ROUTES.map(([method, path, right]) => ({ method, path, right, matches: matcher(path) }));

export function rightFor(method: string, path: string): Right {
  // A HEAD request shows what a GET would, but for the body.
  const asked = method === 'HEAD' ? 'GET' : method;
  const found = TABLE.find(
    (route) => (route.method === '*' || route.method === asked) && route.matches(path),
  );
  return found?.right ?? 'manage';
}

/** Whether a route, as it was registered, has a line of its own. */
export function isListed(method: string, path: string): boolean {
  return TABLE.some((route) => route.path === path && (route.method === '*' || route.method === method));
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
