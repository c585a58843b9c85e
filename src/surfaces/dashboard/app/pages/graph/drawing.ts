import type { EdgeSource, EdgeType, NodeKind } from '../../../shared/vocabulary.ts';

/** The nodes and edges to draw, in either mode, before filters. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  /** For each capability everything inside its hull, including nested capabilities and their members. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface DrawnNode {
  readonly id: string;
  readonly kind: NodeKind;
  readonly label: string;
  readonly server: string | null;
  readonly community: number;
  readonly cluster: number | null;
  /** In pixels. */
  readonly size: number;
  /** Has no edge and is in no hull. */
  readonly isLone: boolean;
  /** Number of this call of the same node, from 1; only for nodes called more than once. */
  readonly nth?: number;
  /** Of a node that stands for all calls of a tool in one run. */
  readonly together?: { readonly calls: number; readonly totalMs: number | null };
  readonly isFailed?: boolean;
  /** Position, if the drawing itself sets it. */
  readonly at?: { readonly x: number; readonly y: number };
}

export interface DrawnEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly type: EdgeType;
  readonly origin: EdgeSource;
  readonly weight: number;
  readonly runs: number;
  readonly calls: number;
}

/** Everything inside a capability at any depth; stops at cycles. */
export function nested(direct: ReadonlyMap<string, ReadonlySet<string>>): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>();
  for (const capability of direct.keys()) {
    const found = new Set<string>();
    const open = [capability];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const member of direct.get(at) ?? []) {
        if (member === capability || found.has(member)) continue;
        found.add(member);
        open.push(member);
      }
    }
    if (found.size > 0) all.set(capability, found);
  }
  return all;
}
