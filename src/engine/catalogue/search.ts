import type { RankingReasons } from '../../core/learning/ranker/ranker.ts';
import { TopK } from '../../core/numeric/top-k.ts';
import {
  lexicalScores,
  type QueryCosines,
  type SearchWeights,
  SHIPPED_WEIGHTS,
  type TextScores,
  textScores,
} from '../../core/retrieval/text-scores.ts';
import { clauses, words } from '../../core/retrieval/words.ts';
import type { NodeId, ToolId } from '../../core/vocabulary/ids.ts';
import type { SearchHit, SearchQuery } from '../gateway.ts';
import type { Embedder } from '../ports.ts';
import type { SearchIndex } from './catalogue.ts';

const DEFAULTS = {
  limit: 5,
  maxLimit: 50,
  /** Characters of a query that are read: some thousand words of any script. */
  characters: 16_384,
  /** How far a tool that fits stands above those that do not, by text: learned scores span at least that. */
  span: 0.4,
};

/** What was learned from past runs, while it serves. */
export interface LearnedSearch {
  /** Null: search ranks by text alone. */
  rank(query: string): Promise<LearnedRanking | null>;
}

export interface LearnedRanking {
  /** How much of what was learned applies, in [0, 1]; at 0 search ranks by text alone, and says so. */
  readonly familiarity: number;
  /** The text scores of exactly these tools, which ranking has worked out already; null where it knows others. */
  textOf(tools: readonly ToolId[]): TextScores | null;
  /** On a scale of its own: only the order and the distances mean something. */
  scoreOf(tool: ToolId): number;
  reasonsFor(tool: ToolId): RankingReasons | null;
}

/** What past runs say, where there is a graph to ask. */
export interface SearchGraph {
  /** The share of the text in a score, and what each tool has to do with those used lately. */
  context(tools: readonly string[]): {
    readonly alpha: number;
    readonly scores: ReadonlyMap<NodeId, number>;
  };
  related(tool: ToolId): SearchHit['related'];
}

const NO_CONTEXT: ReturnType<SearchGraph['context']> = { alpha: 1, scores: new Map() };

/**
 * Ranks the catalogue by wording and meaning; a tool called by its own name comes first. What the
 * graph says of the context decides among those that the text brings forward.
 */
export async function search(
  index: SearchIndex,
  embedder: Embedder,
  query: SearchQuery,
  graph?: SearchGraph,
  ranker?: LearnedSearch,
): Promise<SearchHit[]> {
  const limit = Math.min(DEFAULTS.maxLimit, Math.max(1, query.limit ?? DEFAULTS.limit));
  const text = readOf(query.query);
  if (text === '' || index.tools.length === 0) return [];
  const ranking = (await ranker?.rank(text)) ?? null;
  const scores = ranking?.textOf(index.ids) ?? (await scoreTools(index, embedder, text));
  if (!scores) return [];
  const { alpha, scores: inGraph } = graph?.context(query.contextTools ?? []) ?? NO_CONTEXT;
  const learned = ranking && ranking.familiarity > 0 ? ranking : null;
  const candidates = new TopK(DEFAULTS.maxLimit);
  for (let i = 0; i < index.tools.length; i++) {
    const { id, server } = index.tools[i]!;
    const isAskedFor = query.server === undefined || server === query.server;
    if (isAskedFor) candidates.offer(i, learned ? learned.scoreOf(id) : scores.fused[i]!);
  }
  const rows = candidates.sorted();
  const scaled = learned ? onScaleOf(scores.fused, rows) : rows.map(({ score }) => score);
  return rows
    .map(({ row }, i): SearchHit => {
      const tool = index.tools[row]!;
      const graphScore = inGraph.get(tool.id) ?? 0;
      const reasons = query.explain && learned ? learned.reasonsFor(tool.id) : null;
      return {
        tool,
        semanticScore: scores.fused[row]!,
        graphScore,
        finalScore: alpha * scaled[i]! + (1 - alpha) * graphScore,
        parts: {
          ...partsOf(scores, row, alpha),
          ...(learned && { learned: scaled[i]! }),
          ...(ranking && { learnedShare: ranking.familiarity }),
        },
        ...(reasons && { reasons }),
        related: [],
      };
    })
    .sort((a, b) => b.finalScore - a.finalScore)
    .slice(0, limit)
    .map((hit) => (query.includeRelated && graph ? { ...hit, related: graph.related(hit.tool.id) } : hit));
}

/**
 * Learned scores stretched between the least and the greatest text score of the same tools: their order and
 * distances stay, and the graph weighs as much beside them as beside text that tells something. Where the
 * text tells nothing, what was learned must not drown in the graph. A tool that the ranker does not know yet
 * stands last.
 */
function onScaleOf(text: Float64Array, rows: readonly { row: number; score: number }[]): number[] {
  const known = rows.map(({ score }) => score).filter(Number.isFinite);
  const texts = rows.map(({ row }) => text[row]!);
  const least = Math.min(...texts);
  const span = Math.max(DEFAULTS.span, Math.max(...texts) - least);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const factor = high > low ? span / (high - low) : 1;
  return rows.map(({ score }) => least + (Number.isFinite(score) ? (score - low) * factor : 0));
}

/** The text scores of every tool of the index, in its order; null when there is nothing to compare. */
export async function scoreTools(
  index: SearchIndex,
  embedder: Embedder,
  query: string,
  weights?: SearchWeights,
): Promise<TextScores | null> {
  const text = readOf(query);
  if (text === '' || index.tools.length === 0) return null;
  const cosines = await cosinesOf(index, embedder, text);
  const { lexical, names, successors } = index;
  return textScores(lexicalScores(lexical, words(text)), cosines, names.named(text), weights, successors);
}

/** As much of a query as is read. */
function readOf(query: string): string {
  return query.trim().slice(0, DEFAULTS.characters);
}

/** Null where nothing was embedded yet: words alone decide then. */
async function cosinesOf(
  { ids, vectors }: SearchIndex,
  embedder: Embedder,
  text: string,
): Promise<QueryCosines | null> {
  if (vectors.size === 0) return null;
  const parts = clauses(text);
  const embedded = await embedder.embed(parts.length > 1 ? [text, ...parts] : [text]);
  const [whole, ...rest] = embedded.map((vector) => vectors.scores(vector, ids));
  return { whole: whole!, clauses: rest.length > 0 ? rest : [whole!] };
}

function partsOf(scores: TextScores, row: number, alpha: number): SearchHit['parts'] {
  return {
    whole: scores.whole[row]!,
    clause: scores.clause[row]!,
    lexical: scores.lexical[row]!,
    name: scores.named.get(row) ?? 0,
    alpha,
  };
}

/** What each part adds to a final score; together they make it. */
export interface ScoreShares {
  /** The meaning of the whole query. */
  readonly semantic: number;
  /** The meaning of its best clause. */
  readonly clause: number;
  readonly lexical: number;
  readonly name: number;
  readonly graph: number;
  /** Stands in the place of the four of the text. */
  readonly learned: number;
}

export function scoreShares({ parts, semanticScore, graphScore }: SearchHit): ScoreShares {
  const { whole, clause, lexical, alpha, learned } = parts;
  const graph = (1 - alpha) * graphScore;
  if (learned !== undefined) {
    return { semantic: 0, clause: 0, lexical: 0, name: 0, graph, learned: alpha * learned };
  }
  const text = {
    semantic: alpha * SHIPPED_WEIGHTS.whole * whole,
    clause: alpha * SHIPPED_WEIGHTS.clause * clause,
    lexical: alpha * SHIPPED_WEIGHTS.lexical * lexical,
  };
  // A name lifts what the other parts of the text made.
  const name = alpha * semanticScore - text.semantic - text.clause - text.lexical;
  return { ...text, name, graph, learned: 0 };
}
