import type { NodeId } from './ids.ts';

export const EDGE_TYPES = [
  'dependency',
  'contains',
  'provides',
  'sequence',
  'conditional',
  'alternative',
] as const;
export type EdgeType = (typeof EDGE_TYPES)[number];

export const EDGE_SOURCES = ['template', 'inferred', 'observed'] as const;
export type EdgeSource = (typeof EDGE_SOURCES)[number];

/** Identified by (from, to, type): two nodes may have edges of several types at once. */
export interface Edge {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly type: EdgeType;
  readonly source: EdgeSource;
  /** Number of runs in which the edge was seen. */
  readonly observedCount: number;
  /** Number of calls in which the edge was seen. */
  readonly invocationCount: number;
}

/** Sorts edges by from, to, type. Compares code units, so that the order does not depend on the locale. */
export function compareEdges(a: Edge, b: Edge): number {
  if (a.from !== b.from) return a.from < b.from ? -1 : 1;
  if (a.to !== b.to) return a.to < b.to ? -1 : 1;
  if (a.type !== b.type) return a.type < b.type ? -1 : 1;
  return 0;
}
