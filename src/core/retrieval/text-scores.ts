const DEFAULTS = {
  /**
   * Higher than usual: intents are long and tools' texts are short, so a word that a description repeats says more
   * about it than many words that occur in it once.
   */
  k1: 3,
  b: 0.75,
  /** Half of the lexical score is reached at this many square roots of the query's ideal BM25. */
  lexicalHalf: 4,
  /** How far a name lifts a tool toward 1. Below 1, so that tools of one name keep their order. */
  nameLift: 0.95,
  /** A deprecated tool has at most this share of its successor's score by words. */
  deprecatedWords: 0.999,
  /** How far below its successor it stands at least. */
  deprecatedGap: 1e-9,
};

type Bm25Options = Pick<typeof DEFAULTS, 'k1' | 'b'>;

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

/**
 * BM25 (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) over
 * documents that are lists of words. A field that matters more is simply repeated by the caller.
 */
export function createBm25(
  documents: readonly (readonly string[])[],
  options: Bm25Options = DEFAULTS,
): Bm25Index {
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

function postingsOf(documents: readonly (readonly string[])[], { k1, b }: Bm25Options): Map<string, Posting> {
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

const NONE: ReadonlyMap<number, number> = new Map();

/** The parts of a query's text scores, one value per tool each. */
export interface TextScores {
  readonly whole: Float64Array;
  readonly clause: Float64Array;
  readonly lexical: Float64Array;
  /** Names that the query spells out, by tool. */
  readonly named: ReadonlyMap<number, number>;
  /** The parts together. */
  readonly fused: Float64Array;
}

/** What is known of the query's meaning: cosines with each tool, NaN where a tool has no vector yet. */
export interface QueryCosines {
  readonly whole: ArrayLike<number>;
  /** One row per clause. */
  readonly clauses: readonly ArrayLike<number>[];
}

/**
 * Fuses wording and meaning. Nothing is clamped or rounded, so tools tie only if all their parts do;
 * without cosines (nothing is embedded yet) words alone decide.
 *
 * `successors` are those of `successorsOf`: in every part a deprecated tool gets at most what its successor gets, and
 * a query that names it names its successor as well. All other scores stay.
 */
export function textScores(
  lexical: Float64Array,
  cosines: QueryCosines | null,
  named: ReadonlyMap<number, number>,
  weights: SearchWeights = SHIPPED_WEIGHTS,
  successors: ReadonlyMap<number, number> = NONE,
): TextScores {
  const size = lexical.length;
  const whole = atMostSuccessors(cosines ? withoutGaps(cosines.whole) : new Float64Array(size), successors);
  const clause = atMostSuccessors(
    cosines ? bestClause(cosines.clauses, size) : new Float64Array(size),
    successors,
  );
  const words = atMostSuccessors(lexical, successors, DEFAULTS.deprecatedWords);
  const names = withSuccessors(named, successors);
  const fused = words.map(
    (score, i) => weights.whole * whole[i]! + weights.clause * clause[i]! + weights.lexical * score,
  );
  for (const [i, name] of names) fused[i]! += DEFAULTS.nameLift * name * (1 - fused[i]!);
  for (const [old, successor] of successors)
    fused[old] = Math.min(fused[old]!, fused[successor]! - DEFAULTS.deprecatedGap);
  return { whole, clause, lexical: words, named: names, fused };
}

/** Of a chain the last one comes first, so each is compared with what its successor ends up with. */
function atMostSuccessors(
  scores: Float64Array,
  successors: ReadonlyMap<number, number>,
  share = 1,
): Float64Array {
  if (successors.size === 0) return scores;
  const lowered = scores.slice();
  for (const [old, successor] of successors)
    lowered[old] = Math.min(lowered[old]!, share * lowered[successor]!);
  return lowered;
}

function withSuccessors(
  named: ReadonlyMap<number, number>,
  successors: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  if (named.size === 0 || successors.size === 0) return named;
  const all = new Map(named);
  for (const [old, successor] of [...successors].reverse()) {
    const name = all.get(old);
    if (name !== undefined) all.set(successor, Math.max(name, all.get(successor) ?? 0));
  }
  return all;
}

/**
 * BM25 on a scale from 0 to 1 that fits queries of any length. By chance a longer query shares more
 * words with every tool, and the spread of a sum of many such words grows with its square root.
 */
export function lexicalScores(index: Bm25Index, query: readonly string[]): Float64Array {
  const half = DEFAULTS.lexicalHalf * Math.sqrt(index.ideal(query));
  return index.scores(query).map((score) => (score === 0 ? 0 : score / (score + half)));
}

/**
 * For each tool the clause that speaks for it most: a long intent names several things to do, and no
 * one tool is like all of it. A clause that is somewhat like every tool ("and show me the results")
 * speaks for none, so its mean over all tools is taken off.
 */
function bestClause(clauses: readonly ArrayLike<number>[], size: number): Float64Array {
  const best = new Float64Array(size).fill(clauses.length === 0 ? 0 : Number.NEGATIVE_INFINITY);
  for (const cosines of clauses) {
    const full = withoutGaps(cosines);
    let sum = 0;
    for (let i = 0; i < size; i++) sum += full[i]!;
    const mean = sum / size;
    for (let i = 0; i < size; i++) best[i] = Math.max(best[i]!, full[i]! - mean);
  }
  return best;
}

/** A tool without a vector is taken to be as like the query as tools are on average. */
function withoutGaps(cosines: ArrayLike<number>): Float64Array {
  const full = new Float64Array(cosines);
  let sum = 0;
  let gaps = 0;
  for (const cosine of full) {
    if (Number.isNaN(cosine)) gaps++;
    else sum += cosine;
  }
  if (gaps === 0) return full;
  const mean = gaps === full.length ? 0 : sum / (full.length - gaps);
  return full.map((cosine) => (Number.isNaN(cosine) ? mean : cosine));
}

/** How much each part of the fused text score counts; together they make 1. */
export interface SearchWeights {
  /** Cosine of the whole query and the tool. */
  readonly whole: number;
  /** Cosine of the query's best clause and the tool, less what that clause has in common with all tools. */
  readonly clause: number;
  /** BM25, squashed. */
  readonly lexical: number;
}

/** Fitted on six public data sets by scripts/fit-search.ts. */
export const SHIPPED_WEIGHTS: SearchWeights = { whole: 0.2, clause: 0.4, lexical: 0.4 };

/** The chance of a tool to be right, by its text: a logistic of score, rank and lead. */
export interface TextChances {
  readonly bias: number;
  readonly score: number;
  /** Of the logarithm of its rank, from 1. */
  readonly rank: number;
  /** Of how far the best one is ahead of the second. */
  readonly lead: number;
}

/** Fitted on six public data sets. */
export const SHIPPED_TEXT_CHANCES: TextChances = { bias: -1.94, score: 5.59, rank: -0.78, lead: 11.45 };

/** Chance below which a text says nothing. */
export const LEAST_TEXT_CHANCE = 0.4;

/** Among few tools any can be far ahead, which says no more than this much. */
const MOST_LEAD = 0.15;

/** How far the first of scores is ahead, the greatest first; of one alone that says nothing. */
export function leadOf(scores: ArrayLike<number>): number {
  return scores.length < 2 ? 0 : Math.min(MOST_LEAD, scores[0]! - scores[1]!);
}

/** Of the tool at a place among scores, the greatest of all first. */
export function textChance(
  { bias, score, rank, lead }: TextChances,
  scores: ArrayLike<number>,
  place: number,
): number {
  const own = scores[place]!;
  const ahead = place === 0 ? leadOf(scores) : 0;
  return 1 / (1 + Math.exp(-(bias + score * own + rank * Math.log(place + 1) + lead * ahead)));
}
