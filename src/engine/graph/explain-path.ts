import type { GraphEdge } from '../../core/graph/graph-edge.ts';
import { type PathStep, shortestPath } from '../../core/graph/shortest-path.ts';
import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import type { EdgeType } from '../../core/vocabulary/edge.ts';
import { kindOf, type NodeId } from '../../core/vocabulary/ids.ts';
import { type CapabilityById, type EdgeView, edgeView, labelOf } from './graph-view.ts';

/** How one gets from one node to another, as programs see it. */
export interface PathView {
  readonly from: NodeId;
  readonly to: NodeId;
  /** Of all steps together; null when no path leads there. */
  readonly cost: number | null;
  /** From first to last; empty when no path leads there. */
  readonly nodes: readonly NodeId[];
  readonly steps: readonly StepView[];
  readonly explanation: string;
}

export interface StepView extends EdgeView {
  /** 1 / weight */
  readonly cost: number;
  readonly explanation: string;
}

const MEANING: Readonly<Record<EdgeType, string>> = {
  dependency: 'is needed before',
  provides: 'gives a value to',
  sequence: 'comes before',
  contains: 'calls',
  conditional: 'decides about',
  alternative: 'can stand in for',
};

export function explainPath(
  graph: TypedGraph,
  [from, to]: readonly [NodeId, NodeId],
  capabilityOf: CapabilityById,
): PathView {
  const nameOf = (node: NodeId) => (kindOf(node) === 'capability' ? labelOf(node, capabilityOf) : node);
  const path = shortestPath(graph.snapshot(), from, to);
  if (!path) {
    const explanation = `No path leads from ${nameOf(from)} to ${nameOf(to)}: nothing seen or known says that one comes before the other.`;
    return { from, to, cost: null, nodes: [], steps: [], explanation };
  }
  const steps = path.steps.map(({ edge, weight, cost }: PathStep): StepView => {
    const explanation = `${nameOf(edge.from)} ${MEANING[edge.type]} ${nameOf(edge.to)}, ${groundsOf(edge)}`;
    return { ...edgeView(edge, weight), cost, explanation };
  });
  return {
    from,
    to,
    cost: path.cost,
    nodes: path.nodes,
    steps,
    explanation: summaryOf(steps, path.cost, nameOf(from)),
  };
}

function summaryOf(steps: readonly StepView[], cost: number, start: string): string {
  if (steps.length === 0) return `${start} is where it starts.`;
  const count = steps.length === 1 ? '1 step' : `${steps.length} steps`;
  return `${count}, cost ${cost.toFixed(2)}: ${steps.map(({ explanation }) => explanation).join('; ')}.`;
}

/** Why the edge is believed. */
function groundsOf({ observedCount, invocationCount }: GraphEdge): string {
  if (observedCount === 0) return 'by template, not seen yet';
  const runs = observedCount === 1 ? '1 run' : `${observedCount} runs`;
  return invocationCount > observedCount ? `seen in ${runs} (${invocationCount} calls)` : `seen in ${runs}`;
}
