import { kindOf } from '../../../shared/vocabulary.ts';
import { location, setQuery } from '../../router.ts';
import { type Filter, filterFrom, filterToQuery } from './filter.ts';
import type { Background } from './paint-background.ts';

export type Mode = 'definition' | 'invocation';
export type PanelName = 'nodes' | 'details' | 'path';

export const BACKGROUNDS: Readonly<Record<Background, string>> = {
  none: 'No clusters',
  louvain: 'Communities (Louvain)',
  spectral: 'Clusters (spectral)',
  server: 'Servers',
};

/** The page's state, as stored in the address. */
export interface GraphState {
  readonly mode: Mode;
  /** The trace whose calls are shown; null means the newest. */
  readonly run: string | null;
  /** Of a run: all calls of a tool are one node. */
  readonly isTogether: boolean;
  readonly node: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly background: Background;
  readonly panel: PanelName;
  readonly filter: Filter;
}

export function graphState(): GraphState {
  const { query } = location.value;
  const [run, node, from, to] = ['run', 'node', 'from', 'to'].map((name) => query.get(name));
  const mode = query.get('mode') ?? (run ? 'invocation' : 'definition');
  const background = query.get('clusters') ?? 'none';
  const panel = query.get('panel');
  return {
    mode: mode === 'invocation' ? 'invocation' : 'definition',
    run: run ?? null,
    isTogether: query.get('calls') === 'together',
    node: node ?? null,
    from: from ?? null,
    to: to ?? null,
    background: Object.hasOwn(BACKGROUNDS, background) ? (background as Background) : 'none',
    panel:
      panel === 'nodes' || panel === 'details' || panel === 'path'
        ? panel
        : node
          ? 'details'
          : from || to
            ? 'path'
            : 'nodes',
    filter: withKindOf(node ?? null, filterFrom(query)),
  };
}

/** A selected operation is drawn even if the filter hides operations. */
function withKindOf(node: string | null, filter: Filter): Filter {
  if (node === null || kindOf(node) !== 'operation') return filter;
  return { ...filter, kinds: new Set([...filter.kinds, 'operation']) };
}

/** Selecting a node adds a history entry; a filter does not. */
export function choose(node: string | null): void {
  setQuery({ node: node ?? undefined, panel: undefined }, { replace: false });
}

export function setFilter(filter: Filter): void {
  setQuery(filterToQuery(filter));
}

/** Clears the selection, because calls and tools are different nodes. */
export function setTogether(isTogether: boolean): void {
  const calls = isTogether ? 'together' : undefined;
  setQuery({ calls, node: undefined, panel: undefined }, { replace: false });
}

/** Clears the selection, because the other mode has other nodes. */
export function setMode(mode: Mode, run?: string): void {
  const other = { node: undefined, panel: undefined, from: undefined, to: undefined };
  setQuery({ ...other, mode: mode === 'invocation' ? mode : undefined, run }, { replace: false });
}
