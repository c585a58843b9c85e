import { words } from '../core/retrieval/words.ts';
import type { Catalogue } from './catalogue.ts';
import type { SearchHit, SearchQuery } from './gateway.ts';
import type { Embedder } from './ports.ts';

const DEFAULTS = {
  limit: 5,
  maxLimit: 50,
  /** Share of the meaning (cosine) in the score; the rest is the wording (BM25 over its best). */
  meaning: 0.7,
};

/** Ranks the catalogue by wording and meaning; a tool called by its own name comes first. */
export async function search(
  catalogue: Catalogue,
  embedder: Embedder,
  query: SearchQuery,
): Promise<SearchHit[]> {
  const limit = Math.min(DEFAULTS.maxLimit, Math.max(1, query.limit ?? DEFAULTS.limit));
  const text = query.query.trim();
  if (text === '' || catalogue.entries.length === 0) return [];
  const lexical = catalogue.lexical.scores(words(text));
  const bestLexical = lexical.reduce((best, score) => Math.max(best, score), 0);
  const semantic = await semanticScores(catalogue, embedder, text);
  const hits = catalogue.entries.map(({ tool }, i): SearchHit => {
    const lexicalScore = bestLexical === 0 ? 0 : (lexical[i] ?? 0) / bestLexical;
    const semanticScore = semantic.get(tool.id) ?? 0;
    const fused = DEFAULTS.meaning * semanticScore + (1 - DEFAULTS.meaning) * lexicalScore;
    return { tool, lexicalScore, semanticScore, graphScore: 0, finalScore: fused, related: [] };
  });
  const isNamed = ({ tool }: SearchHit) => tool.id === text || tool.name === text;
  return hits
    .filter(({ tool }) => query.server === undefined || tool.server === query.server)
    .sort((a, b) => Number(isNamed(b)) - Number(isNamed(a)) || b.finalScore - a.finalScore)
    .slice(0, limit);
}

/** Empty where nothing was embedded yet: words alone decide then. */
async function semanticScores(
  { vectors }: Catalogue,
  embedder: Embedder,
  text: string,
): Promise<ReadonlyMap<string, number>> {
  if (vectors.size === 0) return new Map();
  const [vector] = await embedder.embed([text]);
  if (!vector) return new Map();
  return new Map(vectors.nearest(vector, vectors.size).map(({ id, score }) => [id, score]));
}
