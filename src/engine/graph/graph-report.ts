import { type GraphStats, graphStats } from '../../core/graph/typed-graph.ts';
import type { StaticStructure } from '../../core/structure/emit/static-structure.ts';
import type { Capability } from '../ports.ts';
import type { ShownGraph } from './shown-graph.ts';

/** The graph in figures, as programs see it. */
export interface GraphReport extends GraphStats {
  readonly communities: number;
  /** Traces in the store. */
  readonly traces: number;
  readonly capabilities: {
    readonly total: number;
    /** Whose program says that a value of one step is used by another. */
    readonly with_provides: number;
    /** Null without any capability. */
    readonly share_with_provides: number | null;
  };
}

export function graphReport(
  { graph, communities }: ShownGraph,
  capabilities: readonly Capability[],
  traces: number,
): GraphReport {
  const total = capabilities.length;
  const withProvides = capabilities.filter(hasProvides).length;
  return {
    ...graphStats(graph),
    communities: new Set(communities().values()).size,
    traces,
    capabilities: {
      total,
      with_provides: withProvides,
      share_with_provides: total === 0 ? null : withProvides / total,
    },
  };
}

function hasProvides({ staticStructure }: Capability): boolean {
  const { edges = [] } = (staticStructure ?? {}) as Partial<StaticStructure>;
  return edges.some(({ type }) => type === 'provides');
}
