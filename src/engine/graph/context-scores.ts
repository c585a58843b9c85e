import { adaptiveAlpha } from '../../core/graph/alpha.ts';
import { addColdStartScores, type ColdStartHints } from '../../core/graph/cold-start.ts';
import { relationOf } from '../../core/graph/neighbours.ts';
import { Relatedness } from '../../core/graph/relatedness.ts';
import type { GraphSnapshot } from '../../core/graph/snapshot.ts';
import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import { kindOf, type NodeId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue.ts';
import type { SearchHit } from '../gateway.ts';

const DEFAULTS = {
  /** Tools told as related to a hit. */
  related: 5,
  /** Tools with the most similar descriptions that are looked at before any run. */
  similar: 5,
};

/** How much of a score is meaning, and what the graph says of each tool; 0 for those it does not name. */
export interface ContextScores {
  readonly alpha: number;
  readonly scores: ReadonlyMap<NodeId, number>;
}

const known = new WeakMap<GraphSnapshot, Relatedness>();

/** Built once per state of the graph: queries come more often than runs end. */
function relatednessOf(graph: TypedGraph): Relatedness {
  const snapshot = graph.snapshot();
  const before = known.get(snapshot);
  if (before) return before;
  const made = new Relatedness(snapshot);
  known.set(snapshot, made);
  return made;
}

/** What the graph says about tools next to those used so far; unknown ones say nothing. */
export function contextScores(
  graph: TypedGraph,
  catalogue: Catalogue,
  context: readonly ToolId[],
): ContextScores {
  const met = context.filter((tool) => graph.has(tool) || catalogue.get(tool));
  if (met.length === 0) return { alpha: 1, scores: new Map() };
  const scores = relatednessOf(graph).toContext(met);
  addColdStartScores(scores, graph.snapshot(), met, (node) => hintsOf(catalogue, node));
  const alpha = scores.size === 0 ? 1 : adaptiveAlpha(true, graph.size.nonTemplateEdges);
  return { alpha, scores };
}

/** Tools that keep a hit company, by runs; best first. */
export function relatedTools(graph: TypedGraph, catalogue: Catalogue, tool: ToolId): SearchHit['related'] {
  const accepts = (node: NodeId) => kindOf(node) === 'tool' && catalogue.get(node as ToolId) !== undefined;
  return relatednessOf(graph)
    .top(tool, { limit: DEFAULTS.related, accepts })
    .map(({ node, score }) => ({ toolId: node, relation: relationOf(graph, tool, node), score }));
}

function hintsOf(catalogue: Catalogue, node: NodeId): ColdStartHints {
  const own = catalogue.get(node as ToolId)?.tool;
  const sameServer = catalogue.entries
    .filter(({ tool }) => own !== undefined && tool.server === own.server)
    .map(({ tool }) => tool.id);
  const vector = catalogue.vectors.get(node);
  const similar = vector ? catalogue.vectors.nearest(vector, DEFAULTS.similar + 1) : [];
  return { sameServer, similar: similar.map(({ id, score }) => ({ node: id as NodeId, cosine: score })) };
}
