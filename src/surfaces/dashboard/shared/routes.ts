/** The pages, in the order of the navigation. `key` follows `g` on the keyboard; without the right `needs`, it is hidden. */
export const PAGES = [
  { name: 'home', path: '/', title: 'Home', key: 'h' },
  { name: 'graph', path: '/graph', title: 'Graph', key: 'g' },
  { name: 'runs', path: '/runs', title: 'Runs', key: 'r' },
  { name: 'calls', path: '/calls', title: 'Calls', key: 't' },
  { name: 'approvals', path: '/approvals', title: 'Approvals', key: 'a' },
  { name: 'workflows', path: '/workflows', title: 'Workflows', key: 'w' },
  { name: 'capabilities', path: '/capabilities', title: 'Capabilities', key: 'c' },
  { name: 'search', path: '/search', title: 'Search', key: 's' },
  { name: 'learning', path: '/learning', title: 'Learning', key: 'l' },
  { name: 'keys', path: '/keys', title: 'Keys', key: 'k', needs: 'keys' },
] as const;

export type PageName = (typeof PAGES)[number]['name'];

/** Paths of the server; every other path is a page. */
const RESERVED = [
  '/api',
  '/mcp',
  '/bridge',
  '/metrics',
  '/healthz',
  '/login',
  '/assets',
  '/docs',
  '/.well-known',
  '/oauth',
];

export function isPagePath(path: string): boolean {
  return !RESERVED.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

/** The page on which a person decides about an OAuth client. */
export function isConsentPath(path: string): boolean {
  return /^\/oauth\/consent\/[\w-]+$/.test(path);
}

/** Addresses of pages and of things on them; every part is escaped. */
export const href = {
  home: () => '/',
  graph: (query: GraphQuery = {}) => withQuery('/graph', query),
  runs: (query: Query = {}) => withQuery('/runs', query),
  run: (id: string, query: Query = {}) => withQuery(`/runs/${encodeURIComponent(id)}`, query),
  calls: (query: Query = {}) => withQuery('/calls', query),
  approvals: () => '/approvals',
  workflows: () => '/workflows',
  workflow: (id: string) => `/workflows/${encodeURIComponent(id)}`,
  capabilities: () => '/capabilities',
  capability: (slug: string) => `/capabilities/${encodeURIComponent(slug)}`,
  search: (q?: string) => withQuery('/search', { q }),
  learning: () => '/learning',
  keys: () => '/keys',
};

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface GraphQuery extends Query {
  /** The selected node. */
  readonly node?: string | undefined;
  /** With `to`: the path between the two. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** The trace whose calls are shown. */
  readonly run?: string | undefined;
}

export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
