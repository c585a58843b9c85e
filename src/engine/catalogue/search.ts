import { briefSignature } from '../../core/capabilities/tool-signature.ts';
import type { RankingReasons } from '../../core/learning/ranker/ranker.ts';
import { TopK } from '../../core/numeric/top-k.ts';
import {
  createWordIndex,
  isNear,
  type QueryCosines,
  type SearchWeights,
  SHIPPED_WEIGHTS,
  scoreWords,
  somethingFits,
  type TextScores,
  type WordIndex,
} from '../../core/retrieval/text-scores.ts';
import { clauses, toolWords, withKinds, words } from '../../core/retrieval/words.ts';
import type { NodeId, ToolId } from '../../core/vocabulary/ids.ts';
import type { ToolDefinition } from '../../core/vocabulary/tool-definition.ts';
import type { Embedder, VectorIndex } from '../ports.ts';
import type { ObservedOutputs } from './observed-outputs.ts';

const DEFAULTS = {
  limit: 5,
  maxLimit: 50,
  /** Characters of a query that are read: some thousand words of any script. */
  characters: 16_384,
  /** Characters of a description that are searched for: its first sentence, at most. */
  sentence: 300,
  /** Tools given where nothing fits. */
  nearest: 2,
  /** How far a tool that fits stands above those that do not, by text: learned scores span at least that. */
  span: 0.4,
};

/** What search, the ranker and plans look into, by place in `tools`; the vectors by id. */
export interface SearchIndex extends WordIndex {
  readonly tools: readonly ToolDefinition[];
  /** Of these tools, in the same order. */
  readonly ids: readonly ToolId[];
  /** Of those tools that were embedded. */
  readonly vectors: VectorIndex;
}

export function createSearchIndex(tools: readonly ToolDefinition[], vectors: VectorIndex): SearchIndex {
  return {
    tools,
    ids: tools.map(({ id }) => id),
    ...createWordIndex(tools.map((tool) => ({ ...tool, words: toolWords(tool) }))),
    vectors,
  };
}

export interface SearchQuery {
  readonly query: string;
  readonly limit?: number;
  /** Only tools of this server. */
  readonly server?: string;
  readonly includeRelated?: boolean;
  readonly contextTools?: readonly string[];
  /** Also TypeScript signatures, for code. */
  readonly signatures?: boolean;
  /** Also what each takes and gives, in one short line for a model. */
  readonly brief?: boolean;
  /** Also why each stands where it does, where the learned ranker decides. */
  readonly explain?: boolean;
}

export interface SearchHit {
  readonly tool: ToolDefinition;
  /** When asked for. */
  readonly signature?: string;
  /** When asked for: `{ path: string } -> { content: string }`. */
  readonly brief?: string;
  /** What the tool's text says: the parts fused. */
  readonly semanticScore: number;
  /** What was used lately says: relatedness to the context. */
  readonly graphScore: number;
  /** alpha x semantic + (1 - alpha) x graph */
  readonly finalScore: number;
  readonly parts: SearchParts;
  /** When asked for. */
  readonly reasons?: RankingReasons;
  /** False where no tool fits and this is one of the nearest. */
  readonly fits?: boolean;
  readonly related: readonly {
    readonly toolId: string;
    readonly relation: 'often_before' | 'often_after' | 'used_together';
    readonly score: number;
  }[];
}

/** What a score is made of. */
export interface SearchParts {
  /** Cosine of the whole query. */
  readonly whole: number;
  /** Cosine of the query's best clause, less what that clause has in common with all tools. */
  readonly clause: number;
  /** BM25, squashed into [0, 1). */
  readonly lexical: number;
  /** What the best tools of its server score by their own text; absent where that does not count. */
  readonly server?: number;
  /** 1 when the query calls the tool by its name, less with a slip in it, else 0. */
  readonly name: number;
  /** The share of the text in the final score; 1 without context. */
  readonly alpha: number;
  /** What was learned says, on the scale of the text's score, in whose place it stands; absent while it does not serve. */
  readonly learned?: number;
  /** How much of what was learned applies to the query, in [0, 1]; at 0 the text ranks. Absent while it does not serve. */
  readonly learnedShare?: number;
}

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
  // Who asks for one server wants to see its tools, and what was learned knows better what fits.
  const isFar =
    query.server === undefined &&
    !learned &&
    index.vectors.size >= index.tools.length &&
    !somethingFits(scores, embedder.model);
  const candidates = new TopK(DEFAULTS.maxLimit);
  for (let i = 0; i < index.tools.length; i++) {
    const { id, server } = index.tools[i]!;
    const isAskedFor = query.server === undefined || server === query.server;
    if (isAskedFor) candidates.offer(i, learned ? learned.scoreOf(id) : scores.fused[i]!);
  }
  const rows = candidates.sorted().filter(({ row }) => !isFar || isNear(scores, row, embedder.model));
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
        ...(isFar && { fits: false }),
        related: [],
      };
    })
    .sort((a, b) => b.finalScore - a.finalScore)
    .slice(0, isFar ? Math.min(limit, DEFAULTS.nearest) : limit)
    .map((hit) => (query.includeRelated && graph ? { ...hit, related: graph.related(hit.tool.id) } : hit));
}

/**
 * What each tool takes and gives, in one line, written once: until it has another definition, or gave something that it
 * had not given before.
 */
export function createBriefs(outputs: Pick<ObservedOutputs, 'of' | 'onChange'>) {
  const written = new Map<ToolId, { readonly tool: ToolDefinition; readonly brief: string }>();
  outputs.onChange(() => written.clear());
  return (tool: ToolDefinition): string => {
    const before = written.get(tool.id);
    if (before?.tool === tool) return before.brief;
    const brief = briefSignature(tool.inputSchema, tool.outputSchema ?? outputs.of(tool.id));
    written.set(tool.id, { tool, brief });
    return brief;
  };
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
  const told = withKinds(text);
  const cosines = await cosinesOf(index, embedder, told);
  return scoreWords(index, { text, words: words(told) }, cosines, weights);
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
    ...(!Number.isNaN(scores.server[row]!) && { server: scores.server[row]! }),
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
  /** Other tools of its server. */
  readonly server: number;
  readonly name: number;
  readonly graph: number;
  /** Stands in the place of the five of the text. */
  readonly learned: number;
}

export function scoreShares({ parts, semanticScore, graphScore }: SearchHit): ScoreShares {
  const { whole, clause, lexical, server, alpha, learned } = parts;
  const graph = (1 - alpha) * graphScore;
  if (learned !== undefined) {
    return { semantic: 0, clause: 0, lexical: 0, server: 0, name: 0, graph, learned: alpha * learned };
  }
  const own = alpha * (server === undefined ? 1 : 1 - SHIPPED_WEIGHTS.server);
  const text = {
    semantic: own * SHIPPED_WEIGHTS.whole * whole,
    clause: own * SHIPPED_WEIGHTS.clause * clause,
    lexical: own * SHIPPED_WEIGHTS.lexical * lexical,
    server: server === undefined ? 0 : alpha * SHIPPED_WEIGHTS.server * server,
  };
  // A name lifts what the other parts of the text made.
  const name = alpha * semanticScore - text.semantic - text.clause - text.lexical - text.server;
  return { ...text, name, graph, learned: 0 };
}

/** Tools that a search for their own description does not find first. */
export interface HiddenTools {
  /** Number of all tools. */
  readonly tools: number;
  readonly hidden: readonly {
    readonly tool: string;
    /** The tool found instead; null for a tool without a description. */
    readonly winner: string | null;
  }[];
}

/** By text alone: what was learned would find them by their past. */
export async function hiddenTools(index: SearchIndex, embedder: Embedder): Promise<HiddenTools> {
  const hidden: HiddenTools['hidden'][number][] = [];
  for (const { id, description } of index.tools) {
    const query = firstSentence(description);
    const [winner] = await search(index, embedder, { query, limit: 1 });
    if (winner?.tool.id !== id) hidden.push({ tool: id, winner: winner?.tool.id ?? null });
  }
  return { tools: index.tools.length, hidden };
}

function firstSentence(description: string): string {
  const text = description.trim().slice(0, DEFAULTS.sentence);
  const end = text.search(/[.!?]\s|\n/);
  return end < 0 ? text : text.slice(0, end + 1).trim();
}
