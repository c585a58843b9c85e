import {
  type AlphaKind,
  adaptiveAlpha,
  addColdStartScores,
  type ColdStartHints,
  localAlpha,
} from '../../core/graph/alpha.ts';
import { relatedNodes } from '../../core/graph/related-nodes.ts';
import { relatednessOf } from '../../core/graph/relatedness.ts';
import type { TypedGraph } from '../../core/graph/typed-graph.ts';
import { kindOf, type NodeId, parseToolId, type ToolId } from '../../core/vocabulary/ids.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { SearchGraph } from '../catalogue/search.ts';
import type { SearchHit } from '../gateway.ts';

const DEFAULTS = {
  /** Tools told as related to a hit. */
  related: 5,
  /** Tools with the most similar descriptions that are looked at before any run. */
  similar: 5,
};

/** What it needs to know of the tools there are. */
type Tools = Pick<Catalogue, 'entries' | 'get' | 'vectors'>;

/** What search asks of the graph as it is at the moment. */
export function graphForSearch(
  graph: () => TypedGraph,
  catalogue: () => Tools,
  alphaKind: () => AlphaKind = () => 'adaptive',
): SearchGraph {
  return {
    context: (tools) => contextScores(graph(), catalogue(), tools.flatMap(readToolId), alphaKind()),
    related: (tool) => relatedTools(graph(), catalogue(), tool),
  };
}

/** Names that are not tool ids have no scores: a context is a hint, not an order. */
function readToolId(text: string): ToolId[] {
  try {
    return [parseToolId(text)];
  } catch {
    return [];
  }
}

/** What the graph says about tools next to those used so far; unknown ones say nothing. */
function contextScores(
  graph: TypedGraph,
  catalogue: Tools,
  context: readonly ToolId[],
  alphaKind: AlphaKind,
): ReturnType<SearchGraph['context']> {
  const met = context.filter((tool) => graph.has(tool) || catalogue.get(tool));
  if (met.length === 0) return { alpha: 1, scores: new Map() };
  const scores = relatednessOf(graph.snapshot()).toContext(met);
  addColdStartScores(scores, graph.snapshot(), met, (node) => hintsOf(catalogue, node));
  if (scores.size === 0) return { alpha: 1, scores };
  const alpha =
    alphaKind === 'local'
      ? localAlpha(graph.snapshot(), met)
      : adaptiveAlpha(true, graph.size.nonTemplateEdges);
  return { alpha, scores };
}

/** Tools that keep a hit company, by runs; best first. */
function relatedTools(graph: TypedGraph, catalogue: Tools, tool: ToolId): SearchHit['related'] {
  const accepts = (node: NodeId) => kindOf(node) === 'tool' && catalogue.get(node as ToolId) !== undefined;
  return relatedNodes(graph, tool, { limit: DEFAULTS.related, accepts }).map(({ node, relation, score }) => ({
    toolId: node,
    relation,
    score,
  }));
}

function hintsOf(catalogue: Tools, node: NodeId): ColdStartHints {
  const own = catalogue.get(node as ToolId)?.tool;
  const sameServer = catalogue.entries
    .filter(({ tool }) => own !== undefined && tool.server === own.server)
    .map(({ tool }) => tool.id);
  const vector = catalogue.vectors.get(node);
  const similar = vector ? catalogue.vectors.nearest(vector, DEFAULTS.similar + 1) : [];
  return { sameServer, similar: similar.map(({ id, score }) => ({ node: id as NodeId, cosine: score })) };
}
