import type { NodeId } from '../vocabulary/ids.ts';
import { neighbours, type Relation, relationOf } from './neighbours.ts';
import { type RelatedOptions, relatednessOf } from './relatedness.ts';
import type { TypedGraph } from './typed-graph.ts';
import { weight } from './weight.ts';

const DEFAULTS = {
  limit: 5,
  /** What is related only through others counts at most as much as the weakest template. */
  indirect: weight('sequence', 'template'),
};

export interface RelatedTool {
  readonly node: NodeId;
  readonly relation: Relation;
  /** In (0, 1). */
  readonly score: number;
}

/**
 * What to show beside a tool: its neighbours, each with the weight of its strongest edge times the share
 * of the tool's runs in which that was seen, (runs + 1) / (runs of the tool + 2); after them what keeps
 * the same company. Best first; of equals in order of id.
 */
export function relatedNodes(
  graph: TypedGraph,
  node: NodeId,
  { limit = DEFAULTS.limit, accepts = () => true }: RelatedOptions = {},
): RelatedTool[] {
  const { runs: runsOfNode } = graph.statisticsOf(node);
  const direct = neighbours(graph, node)
    .filter((each) => accepts(each.node))
    .map((each) => ({
      node: each.node,
      relation: relationOf(graph, node, each.node),
      score: (each.weight * (each.runs + 1)) / (Math.max(runsOfNode, each.runs) + 2),
    }));
  const known = new Set(direct.map((each) => each.node));
  const acceptsRest = (other: NodeId) => accepts(other) && !known.has(other);
  const indirect = relatednessOf(graph.snapshot()).top(node, { limit, accepts: acceptsRest });
  return [
    ...direct,
    ...indirect.map((each) => ({
      node: each.node,
      relation: 'used_together' as const,
      score: DEFAULTS.indirect * each.score,
    })),
  ]
    .sort((a, b) => b.score - a.score || (a.node < b.node ? -1 : 1))
    .slice(0, limit);
}
