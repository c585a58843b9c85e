import {
  EDGE_SOURCES,
  EDGE_TYPES,
  type EdgeSource,
  type EdgeType,
  type NodeKind,
} from '../../../shared/vocabulary.ts';
import type { Drawing } from './drawing.ts';

export const NODE_KINDS: readonly NodeKind[] = ['tool', 'capability', 'operation'];

/** What is shown; null means everything. */
export interface Filter {
  readonly types: ReadonlySet<EdgeType>;
  readonly sources: ReadonlySet<EdgeSource>;
  readonly kinds: ReadonlySet<NodeKind>;
  readonly servers: ReadonlySet<string> | null;
  /** Whether nodes without edges are shown. */
  readonly lone: boolean;
}

const DEFAULTS = {
  types: EDGE_TYPES,
  sources: EDGE_SOURCES,
  /** Operations are many, so they are off by default. */
  kinds: ['tool', 'capability'] as readonly NodeKind[],
};

/** In the address: the chosen values, comma-separated; `none` for an empty choice; absent for the default. */
const NONE = 'none';

export function filterFrom(query: URLSearchParams): Filter {
  const list = <T extends string>(name: string, known: readonly T[], usual: readonly T[]) => {
    const given = query.get(name)?.split(',');
    return new Set(given ? known.filter((each) => given.includes(each)) : usual);
  };
  const servers = query.get('servers');
  return {
    types: list('types', EDGE_TYPES, DEFAULTS.types),
    sources: list('sources', EDGE_SOURCES, DEFAULTS.sources),
    kinds: list('kinds', NODE_KINDS, DEFAULTS.kinds),
    servers: servers === null ? null : new Set(servers === NONE ? [] : servers.split(',')),
    lone: query.get('lone') !== NONE,
  };
}

/** Query parameters of a filter; undefined removes one. */
export function filterToQuery(filter: Filter): Record<string, string | undefined> {
  const text = <T extends string>(chosen: ReadonlySet<T>, usual: readonly T[]) => {
    if (chosen.size === usual.length && usual.every((each) => chosen.has(each))) return undefined;
    return chosen.size === 0 ? NONE : [...chosen].join(',');
  };
  return {
    types: text(filter.types, DEFAULTS.types),
    sources: text(filter.sources, DEFAULTS.sources),
    kinds: text(filter.kinds, DEFAULTS.kinds),
    servers: filter.servers === null ? undefined : [...filter.servers].join(',') || NONE,
    lone: filter.lone ? undefined : NONE,
  };
}

/** The filtered part of a drawing. Hulls are shown with their capabilities. */
export function filtered({ nodes, edges, members }: Drawing, filter: Filter): Drawing {
  const shown = nodes.filter(
    ({ kind, server, isLone }) =>
      filter.kinds.has(kind) &&
      (server === null || filter.servers === null || filter.servers.has(server)) &&
      (filter.lone || !isLone),
  );
  const isShown = new Set(shown.map(({ id }) => id));
  return {
    nodes: shown,
    edges: edges.filter(
      ({ source, target, type, origin }) =>
        filter.types.has(type) && filter.sources.has(origin) && isShown.has(source) && isShown.has(target),
    ),
    members: new Map(
      [...members].flatMap(([capability, inside]) => {
        const left = [...inside].filter((id) => isShown.has(id));
        return isShown.has(capability) && left.length > 0 ? [[capability, new Set(left)] as const] : [];
      }),
    ),
  };
}

/** The set with one element added, or removed if it was present. */
export function toggled<T>(set: ReadonlySet<T>, one: T): Set<T> {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
}
