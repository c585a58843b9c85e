import type { GraphEdge, NodeStatistics } from '../../src/core/graph/graph-edge.ts';
import type { ExecutionTrace } from '../../src/core/vocabulary/execution-trace.ts';
import type { RollupStore } from '../../src/engine/ports.ts';

export interface RolledTraces {
  /** In the order in which they were stored, each with its number. */
  inOrder(): readonly { readonly seq: number; readonly trace: ExecutionTrace }[];
  isUnfinished(runId: string): boolean;
  /** The number of the last trace in the graph. */
  cursor(): Promise<number>;
  remove(ids: readonly string[]): void;
  /** Deletes everything stored about the runs except the suggestions they came from. */
  endRuns(runIds: readonly string[]): void;
}

/** The stored roll-up in memory. */
export function createMemoryRollup(parts: RolledTraces): RollupStore {
  const edges = new Map<string, GraphEdge>();
  const statistics = new Map<string, NodeStatistics>();
  let traces = 0;
  return {
    read: async () =>
      structuredClone({ traces, edges: [...edges.values()], statistics: [...statistics.values()] }),
    traces: async () => traces,
    async due(before, limit) {
      const cursor = await parts.cursor();
      return parts
        .inOrder()
        .filter(
          ({ seq, trace }) => seq <= cursor && trace.executedAt < before && !parts.isUnfinished(trace.runId),
        )
        .slice(0, limit)
        .map(({ trace }) => structuredClone(trace));
    },
    async fold(step) {
      if (step.from !== traces) return false;
      for (const edge of step.edges) {
        edges.set(JSON.stringify([edge.from, edge.to, edge.type]), structuredClone(edge));
      }
      for (const each of step.statistics) statistics.set(each.node, structuredClone(each));
      const ids = new Set(step.ids);
      const runIds = parts.inOrder().flatMap(({ trace }) => (ids.has(trace.id) ? [trace.runId] : []));
      parts.remove(step.ids);
      const kept = new Set(parts.inOrder().map(({ trace }) => trace.runId));
      parts.endRuns(runIds.filter((id) => !kept.has(id)));
      traces += step.ids.length;
      return true;
    },
    async tidy() {},
  };
}
