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
  /** Runs in which it was seen, once per run. */
  readonly observedCount: number;
  /** Calls in which it was seen. */
  readonly invocationCount: number;
}

/** The one order of edges: by from, to, type. Plain code units, so that no locale changes it. */
export function compareEdges(a: Edge, b: Edge): number {
  if (a.from !== b.from) return a.from < b.from ? -1 : 1;
  if (a.to !== b.to) return a.to < b.to ? -1 : 1;
  if (a.type !== b.type) return a.type < b.type ? -1 : 1;
  return 0;
}
