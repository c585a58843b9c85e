/**
 * BM25 (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) over
 * documents that are lists of words. A field that matters more is simply repeated by the caller.
 *
 * k1 is higher than usual: intents are long and tools' texts are short, so a word that a description
 * repeats says more about it than many words that occur in it once.
 */
const DEFAULTS = { k1: 3, b: 0.75 };

interface Posting {
  readonly documents: Uint32Array;
  /** What the word adds to the score of each of them. */
  readonly impacts: Float64Array;
  /** What it could add at the most: rarity x (k1 + 1). */
  readonly most: number;
}

export interface Bm25Index {
  readonly size: number;
  /** One score per document, in the order they were given; 0 where no word is shared. */
  scores(query: readonly string[]): Float64Array;
  /** The score of a document that consists of nothing but the query's words, without end. */
  ideal(query: readonly string[]): number;
}

export function createBm25(documents: readonly (readonly string[])[], options = DEFAULTS): Bm25Index {
  const postings = postingsOf(documents, options);
  const known = (query: readonly string[]) => {
    const found: Posting[] = [];
    for (const word of new Set(query)) {
      const posting = postings.get(word);
      if (posting) found.push(posting);
    }
    return found;
  };
  return {
    size: documents.length,
    scores(query) {
      const scores = new Float64Array(documents.length);
      for (const posting of known(query)) {
        for (let i = 0; i < posting.documents.length; i++) {
          scores[posting.documents[i]!]! += posting.impacts[i]!;
        }
      }
      return scores;
    },
    ideal: (query) => known(query).reduce((sum, { most }) => sum + most, 0),
  };
}

function postingsOf(
  documents: readonly (readonly string[])[],
  { k1, b }: typeof DEFAULTS,
): Map<string, Posting> {
  const total = documents.reduce((sum, words) => sum + words.length, 0);
  const meanLength = total / Math.max(1, documents.length) || 1;
  /** By word: the documents that hold it, and how often they do. */
  const counts = new Map<string, Map<number, number>>();
  for (const [document, words] of documents.entries()) {
    for (const word of words) {
      const inDocuments = counts.get(word) ?? new Map<number, number>();
      if (inDocuments.size === 0) counts.set(word, inDocuments);
      inDocuments.set(document, (inDocuments.get(document) ?? 0) + 1);
    }
  }
  const postings = new Map<string, Posting>();
  for (const [word, inDocuments] of counts) {
    const rarity = Math.log(1 + (documents.length - inDocuments.size + 0.5) / (inDocuments.size + 0.5));
    const impact = ([document, count]: readonly [number, number]) =>
      (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + (b * documents[document]!.length) / meanLength));
    postings.set(word, {
      documents: Uint32Array.from(inDocuments.keys()),
      impacts: Float64Array.from(inDocuments, impact),
      most: rarity * (k1 + 1),
    });
  }
  return postings;
}
