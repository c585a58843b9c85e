import type { EdgeSource, EdgeType, NodeKind } from '../../../shared/vocabulary.ts';

/** What is drawn, in either mode, before filters. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
  /** Of each capability all that stands within its hull, nested ones and what is in them included. */
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
  /** Neither an edge nor a hull says anything of it. */
  readonly isLone: boolean;
  /** Which call of the same node it is, from 1; for those that are called more than once. */
  readonly nth?: number;
  readonly isFailed?: boolean;
  /** Its place, where the drawing itself says it. */
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

/** Everything within a capability, however deep; one that calls itself round about ends there. */
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
