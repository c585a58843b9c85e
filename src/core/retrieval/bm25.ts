/**
 * BM25 (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) over
 * documents that are lists of words. A field that matters more is simply repeated by the caller.
 */
const DEFAULTS = { k1: 1.2, b: 0.75 };

interface Posting {
  readonly document: number;
  readonly count: number;
}

export interface Bm25Index {
  readonly size: number;
  /** One score per document, in the order they were given; 0 where no word is shared. */
  scores(query: readonly string[]): Float64Array;
}

export function createBm25(documents: readonly (readonly string[])[], options = DEFAULTS): Bm25Index {
  const postings = new Map<string, Posting[]>();
  const lengths = Float64Array.from(documents, (words) => words.length);
  documents.forEach((words, document) => {
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) {
      const list = postings.get(word);
      if (list) list.push({ document, count });
      else postings.set(word, [{ document, count }]);
    }
  });
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, documents.length);

  return {
    size: documents.length,
    scores(query) {
      const scores = new Float64Array(documents.length);
      for (const word of new Set(query)) {
        const list = postings.get(word);
        if (!list) continue;
        const rarity = Math.log(1 + (documents.length - list.length + 0.5) / (list.length + 0.5));
        for (const { document, count } of list) {
          const length = (lengths[document] ?? 0) / (meanLength || 1);
          const saturated =
            (count * (options.k1 + 1)) / (count + options.k1 * (1 - options.b + options.b * length));
          scores[document] = (scores[document] ?? 0) + rarity * saturated;
        }
      }
      return scores;
    },
  };
}
