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
