import type { Hyperedge } from '../../graph/hyperpaths.ts';
import type { TypedGraph } from '../../graph/typed-graph.ts';
import type { NodeId } from '../../vocabulary/ids.ts';
import { type CoveringCapability, coverWithCapabilities } from './cover-with-capabilities.ts';
import { type PlanSketch, withSeenEdges } from './plan-sketch.ts';
import { waitForAll } from './wait-for-all.ts';
import { type SuggestedPlan, wireArguments } from './wire-arguments.ts';

/** What a sketch is completed with. */
export interface PlanKnowledge {
  readonly graph: TypedGraph;
  /** Of the graph, with its capabilities: see `capabilityHyperedges`. */
  readonly arcs: readonly Hyperedge[];
  /** Those that may be used. */
  readonly capabilities: readonly CoveringCapability[];
  /** Lower bound of the success rate of a tool. */
  readonly reliabilityOf: (node: NodeId) => number;
}

/**
 * From tools with a likely order to a plan that can run: what the graph saw between them is added, what
 * follows a capability waits for all of it, cycles lose their weakest edges, capabilities take the place
 * of tasks they do better, and arguments are wired.
 */
export function suggestPlan(sketch: PlanSketch, knowledge: PlanKnowledge): SuggestedPlan {
  const { graph, arcs, capabilities, reliabilityOf } = knowledge;
  const whole = waitForAll(withSeenEdges(sketch, graph), arcs);
  return wireArguments(coverWithCapabilities(whole, capabilities, reliabilityOf), graph);
}
