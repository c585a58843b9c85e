import { type GraphEdge, ORDER_BEARING } from '../../core/graph/graph-edge.ts';
import { Hyperpaths, type PathStep, shortestPath } from '../../core/graph/hyperpaths.ts';
import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import type { EdgeType } from '../../core/vocabulary/edge.ts';
import { kindOf, type NodeId } from '../../core/vocabulary/ids.ts';
import { type CapabilityById, type EdgeView, edgeView, labelOf, type ShownGraph } from './graph-view.ts';

/** A path from one node to another, as programs see it. */
export interface PathView {
  /** A list where several were given. */
  readonly from: NodeId | readonly NodeId[];
  readonly to: NodeId;
  /** Of all steps together; null when no path leads there. */
  readonly cost: number | null;
  /** In the order in which they are reached; empty when no path leads there. */
  readonly nodes: readonly NodeId[];
  readonly steps: readonly StepView[];
  /** From several nodes: the capabilities on the way. */
  readonly joins: readonly JoinView[];
  readonly explanation: string;
}

export interface StepView extends EdgeView {
  /** 1 / weight */
  readonly cost: number;
  readonly explanation: string;
}

/** A capability that is reached once all of these are. */
export interface JoinView {
  readonly all_of: readonly NodeId[];
  readonly target: NodeId;
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
  const nameOf = namesBy(capabilityOf);
  const path = shortestPath(graph.snapshot(), from, to);
  if (!path) {
    const explanation = `No path leads from ${nameOf(from)} to ${nameOf(to)}: no run and no template says that one comes before the other.`;
    return { from, to, cost: null, nodes: [], steps: [], joins: [], explanation };
  }
  const steps = path.steps.map((step) => explainStep(graph, step, nameOf));
  return {
    from,
    to,
    cost: path.cost,
    nodes: path.nodes,
    steps,
    joins: [],
    explanation: summaryOf(steps, path.cost, nameOf(from)),
  };
}

/** From several finished nodes: the cheapest B-hyperpath; a capability is reached once everything it uses is. */
export function explainHyperpath(
  { graph, arcs }: Pick<ShownGraph, 'graph' | 'arcs'>,
  [from, to]: readonly [readonly NodeId[], NodeId],
  capabilityOf: CapabilityById,
): PathView {
  const nameOf = namesBy(capabilityOf);
  const path = new Hyperpaths(from, arcs()).pathTo(to);
  if (!path) {
    const explanation = `No path leads from ${listed(from.map(nameOf))} to ${nameOf(to)}: no run and no template says that these are enough for it.`;
    return { from, to, cost: null, nodes: [], steps: [], joins: [], explanation };
  }
  const taken = path.edges.map((arc) => {
    const edge = arc.id === arc.head ? undefined : strongest(graph, arc.tail[0]!, arc.head);
    if (edge) return { step: explainStep(graph, { edge, weight: 1 / arc.cost, cost: arc.cost }, nameOf) };
    const explanation = `${nameOf(arc.head)} is done once ${listed(arc.tail.map(nameOf))} ${arc.tail.length === 1 ? 'is' : 'are'}`;
    return { join: { all_of: arc.tail, target: arc.head, cost: arc.cost, explanation } };
  });
  const used = new Set(path.edges.flatMap(({ tail }) => tail));
  const reasons = taken.map(({ step, join }) => (step ?? join)!);
  return {
    from,
    to,
    cost: path.cost,
    nodes: [
      ...[...new Set(from)].filter((node) => used.has(node) || node === to),
      ...path.edges.map(({ head }) => head),
    ],
    steps: taken.flatMap(({ step }) => step ?? []),
    joins: taken.flatMap(({ join }) => join ?? []),
    explanation: summaryOf(reasons, path.cost, nameOf(to)),
  };
}

/** The edge that an arc between two nodes stands for. */
function strongest(graph: TypedGraph, from: NodeId, to: NodeId): GraphEdge | undefined {
  return [...graph.edgesFrom(from)]
    .filter((edge) => edge.to === to && ORDER_BEARING.includes(edge.type))
    .sort((a, b) => graph.weightOf(b) - graph.weightOf(a))[0];
}

function namesBy(capabilityOf: CapabilityById): (node: NodeId) => string {
  return (node) => (kindOf(node) === 'capability' ? labelOf(node, capabilityOf) : node);
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function explainStep(graph: TypedGraph, step: PathStep, nameOf: (node: NodeId) => string): StepView {
  const { weight, cost } = step;
  const edge = graph.shown(step.edge);
  const explanation = `${nameOf(edge.from)} ${MEANING[edge.type]} ${nameOf(edge.to)}, ${groundsOf(edge)}`;
  return { ...edgeView(edge, weight), cost, explanation };
}

function summaryOf(steps: readonly { readonly explanation: string }[], cost: number, start: string): string {
  if (steps.length === 0) return `${start} is the start of the path.`;
  const count = steps.length === 1 ? '1 step' : `${steps.length} steps`;
  return `${count}, cost ${cost.toFixed(2)}: ${steps.map(({ explanation }) => explanation).join('; ')}.`;
}

/** The evidence for the edge. */
function groundsOf({ observedCount, invocationCount }: GraphEdge): string {
  if (observedCount === 0) return 'from a template, not seen yet';
  const runs = observedCount === 1 ? '1 run' : `${observedCount} runs`;
  return invocationCount > observedCount ? `seen in ${runs} (${invocationCount} calls)` : `seen in ${runs}`;
}
