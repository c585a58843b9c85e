import { TopK } from '../numeric/top-k.ts';
import { successorsOf } from './deprecated-tools.ts';
import { createNameIndex, createVerbIndex, type NameIndex, type RelatedWord, relatedWords } from './words.ts';

const DEFAULTS = {
  /**
   * Higher than usual: intents are long and tools' texts are short, so a word that a description repeats is better
   * evidence than many words that occur in it once.
   */
  k1: 3,
  b: 0.75,
  /** The lexical score is one half at this many square roots of the query's ideal BM25. */
  lexicalHalf: 4,
  /** Queries of more words have enough of their own: related words would be noise. */
  shortQuery: 8,
  /** Related words that may stand for a word of a short query, of those that tools use. */
  related: 5,
  /** The nearest words among which they are looked for, where tools use the word itself: others would be noise. */
  relatedToKnown: 8,
  /** Share of a related word in a full match, times its cosine: where no tool uses the word itself, and else. */
  relatedShare: { unknown: 1, known: 0.4 },
  /** How far the first word of a short query lifts the lexical score of a tool towards 1 whose whole name it is. */
  verbLift: 0.3,
  /** Tools of a server, the best by their own text, whose mean speaks for all of its tools. */
  serverTools: 6,
  /** Of fewer servers the larger one would gain by its size. */
  leastServers: 3,
  /** How far a name lifts a tool towards 1. Below 1, so that tools with the same name keep their order. */
  nameLift: 0.95,
  /** Upper limit of a deprecated tool's lexical score, as a share of its successor's. */
  deprecatedWords: 0.999,
  /** Least distance below its successor. */
  deprecatedGap: 1e-9,
};

type Bm25Options = Pick<typeof DEFAULTS, 'k1' | 'b'>;

interface Posting {
  readonly documents: Uint32Array;
  /** Contribution of the word to the score of each document. */
  readonly impacts: Float64Array;
  /** Upper bound of its contribution: rarity x (k1 + 1). */
  readonly most: number;
}

/** A word of a term that documents contain. */
interface Share {
  readonly posting: Posting;
  /** Of a full match. */
  readonly share: number;
}

/** A word, or several that may stand for it, each with its share of a full match. The best one counts. */
type Term = string | readonly RelatedWord[];

export interface Bm25Index {
  readonly size: number;
  has(word: string): boolean;
  /** One score per document, in input order; 0 where no word is shared. */
  scores(query: readonly Term[]): Float64Array;
  /** Upper bound of the score: a document that repeats only the query's words, infinitely often. */
  ideal(query: readonly Term[]): number;
}

/**
 * BM25 (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) over
 * documents that are lists of words. To give a field more weight, the caller repeats it.
 */
export function createBm25(
  documents: readonly (readonly string[])[],
  options: Bm25Options = DEFAULTS,
): Bm25Index {
  const postings = postingsOf(documents, options);
  /** Per term, the postings of its known words with their shares. */
  const known = (query: readonly Term[]) => {
    const terms: (readonly Share[])[] = [];
    for (const term of new Set(query)) {
      const words: readonly RelatedWord[] = typeof term === 'string' ? [[term, 1]] : term;
      const found = words.flatMap(([word, share]) => {
        const posting = postings.get(word);
        return posting ? [{ posting, share }] : [];
      });
      if (found.length > 0) terms.push(found);
    }
    return terms;
  };
  return {
    size: documents.length,
    has: (word) => postings.has(word),
    scores(query) {
      const scores = new Float64Array(documents.length);
      for (const term of known(query)) addTerm(scores, term);
      return scores;
    },
    ideal: (query) =>
      known(query).reduce(
        (sum, term) => sum + Math.max(...term.map(({ posting, share }) => share * posting.most)),
        0,
      ),
  };
}

/** Adds what the best of a term's words contributes to each document. */
function addTerm(scores: Float64Array, term: readonly Share[]): void {
  const best = term.length > 1 ? new Float64Array(scores.length) : null;
  for (const { posting, share } of term) {
    const { documents, impacts } = posting;
    for (let i = 0; i < documents.length; i++) {
      const document = documents[i]!;
      const impact = share * impacts[i]!;
      if (!best) scores[document]! += impact;
      else if (impact > best[document]!) {
        scores[document]! += impact - best[document]!;
        best[document] = impact;
      }
    }
  }
}

function postingsOf(documents: readonly (readonly string[])[], { k1, b }: Bm25Options): Map<string, Posting> {
  const total = documents.reduce((sum, words) => sum + words.length, 0);
  const meanLength = total / Math.max(1, documents.length) || 1;
  /** By word: the documents that contain it, with the number of occurrences. */
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

/** The parts of a query's text scores, each with one value per tool. */
export interface TextScores {
  readonly whole: Float64Array;
  readonly clause: Float64Array;
  readonly lexical: Float64Array;
  /** What the best tools of its server score by their own text; NaN where it does not count. */
  readonly server: Float64Array;
  /** Tools that the query names, with their scores. */
  readonly named: ReadonlyMap<number, number>;
  /** The greatest cosine of the query or one of its clauses, at least 0. */
  readonly nearest: Float64Array;
  /** The fused score. */
  readonly fused: Float64Array;
}

/** Cosines of the query with each tool, NaN where a tool has no vector yet. */
export interface QueryCosines {
  readonly whole: ArrayLike<number>;
  /** One row of cosines per clause. */
  readonly clauses: readonly ArrayLike<number>[];
}

/** How tools belong together, each under its place in the list. */
interface Kin {
  /** From `successorsOf`, of deprecated tools. */
  readonly successors: ReadonlyMap<number, number>;
  /** The tools of each server that has several; empty where there are too few servers to compare. */
  readonly servers: readonly (readonly number[])[];
}

const NO_KIN: Kin = { successors: new Map(), servers: [] };

/**
 * Fuses lexical and embedding scores. Nothing is clamped or rounded, so that tools tie only if all parts tie;
 * without cosines (nothing is embedded yet) words alone decide.
 *
 * In a query of several clauses a tool gains where other tools of its server fit as well: one clause of many resembles
 * some tool by chance, and who needs several tools often needs them of one server.
 *
 * In every part a deprecated tool scores at most as high as its successor, and a query that names it also names its
 * successor. All other scores are unchanged.
 */
export function textScores(
  lexical: Float64Array,
  cosines: QueryCosines | null,
  named: ReadonlyMap<number, number>,
  weights: SearchWeights = SHIPPED_WEIGHTS,
  { successors, servers }: Kin = NO_KIN,
): TextScores {
  const size = lexical.length;
  const given = {
    whole: cosines ? withoutGaps(cosines.whole) : new Float64Array(size),
    clause: cosines ? bestClause(cosines.clauses, size) : new Float64Array(size),
    lexical,
  };
  const whole = atMostSuccessors(given.whole, successors);
  const clause = atMostSuccessors(given.clause, successors);
  const words = atMostSuccessors(lexical, successors, DEFAULTS.deprecatedWords);
  const names = withSuccessors(named, successors);
  // Of the scores as given, so that a deprecated tool does not lower others.
  const isLong = cosines !== null && cosines.clauses.length > 1;
  const server = serverScores(ownScores(given, weights), isLong ? servers : []);
  const fused = withServers(ownScores({ whole, clause, lexical: words }, weights), server, weights.server);
  for (const [i, name] of names) fused[i]! += DEFAULTS.nameLift * name * (1 - fused[i]!);
  for (const [old, successor] of successors)
    fused[old] = Math.min(fused[old]!, fused[successor]! - DEFAULTS.deprecatedGap);
  return { whole, clause, lexical: words, server, named: names, nearest: nearestOf(cosines, size), fused };
}

/** By the tools' own texts. */
function ownScores(
  { whole, clause, lexical }: Pick<TextScores, 'whole' | 'clause' | 'lexical'>,
  weights: SearchWeights,
): Float64Array {
  return lexical.map(
    (score, i) => weights.whole * whole[i]! + weights.clause * clause[i]! + weights.lexical * score,
  );
}

/** The mean of the best scores of each tool's server; NaN for tools of no server in the list. */
export function serverScores(own: Float64Array, servers: Kin['servers']): Float64Array {
  const scores = new Float64Array(own.length).fill(Number.NaN);
  for (const tools of servers) {
    const best = new TopK(DEFAULTS.serverTools);
    for (const tool of tools) best.offer(tool, own[tool]!);
    const rows = best.sorted();
    const mean = rows.reduce((sum, { score }) => sum + score, 0) / rows.length;
    for (const tool of tools) scores[tool] = mean;
  }
  return scores;
}

export function withServers(own: Float64Array, server: Float64Array, share: number): Float64Array {
  return own.map((score, i) => (Number.isNaN(server[i]!) ? score : score + share * (server[i]! - score)));
}

function nearestOf(cosines: QueryCosines | null, size: number): Float64Array {
  const nearest = new Float64Array(size);
  for (const row of cosines ? [cosines.whole, ...cosines.clauses] : []) {
    for (let i = 0; i < size; i++) if (row[i]! > nearest[i]!) nearest[i] = row[i]!;
  }
  return nearest;
}

/** The last tool of a chain comes first, so that each is compared with the final score of its successor. */
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
 * BM25 scaled to [0, 1] for queries of any length. A longer query shares more words with every tool by
 * chance, and the spread of a sum of many words grows with its square root.
 */
export function lexicalScores(index: Bm25Index, query: readonly string[]): Float64Array {
  const terms = widened(index, query);
  const half = DEFAULTS.lexicalHalf * Math.sqrt(index.ideal(terms));
  return index.scores(terms).map((score) => (score === 0 ? 0 : score / (score + half)));
}

/** A short query with the related words that tools use: "rain" finds what is said about weather. */
function widened(index: Bm25Index, query: readonly string[]): readonly Term[] {
  const words = [...new Set(query)];
  if (words.length > DEFAULTS.shortQuery) return query;
  return words.map((word): Term => {
    const { known, unknown } = DEFAULTS.relatedShare;
    const isKnown = index.has(word);
    const share = isKnown ? known : unknown;
    const related = relatedWords(word)
      .slice(0, isKnown ? DEFAULTS.relatedToKnown : undefined)
      .filter(([other]) => index.has(other))
      .slice(0, DEFAULTS.related)
      .map(([other, cosine]): RelatedWord => [other, share * cosine]);
    return related.length === 0 ? word : [[word, 1], ...related];
  });
}

/**
 * For each tool, the cosine of its best clause: a long intent names several actions, and no single tool
 * resembles all of it. A clause that somewhat resembles every tool ("and show me the results") supports
 * none, so its mean over all tools is subtracted.
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

/** A tool without a vector gets the mean cosine of all tools. */
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

/** Tools or capabilities by their words and names, each under its place in the list; built once for all who ask. */
export interface WordIndex extends Kin {
  readonly lexical: Bm25Index;
  readonly names: NameIndex;
  /** From `createVerbIndex`. */
  readonly verbs: ReadonlyMap<string, readonly number[]>;
}

interface WordEntry {
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  readonly words: readonly string[];
}

export function createWordIndex(entries: readonly WordEntry[]): WordIndex {
  return {
    lexical: createBm25(entries.map(({ words }) => words)),
    names: createNameIndex(entries),
    verbs: createVerbIndex(entries),
    successors: successorsOf(entries),
    servers: serversOf(entries),
  };
}

function serversOf(entries: readonly WordEntry[]): Kin['servers'] {
  const servers = new Map<string, number[]>();
  for (const [place, { server }] of entries.entries()) {
    const tools = servers.get(server);
    if (tools) tools.push(place);
    else servers.set(server, [place]);
  }
  if (servers.size < DEFAULTS.leastServers) return [];
  return [...servers.values()].filter((tools) => tools.length > 1);
}

/** The text scores of everything in the index. */
export function scoreWords(
  { lexical, names, verbs, ...kin }: WordIndex,
  query: { readonly text: string; readonly words: readonly string[] },
  cosines: QueryCosines | null,
  weights?: SearchWeights,
): TextScores {
  const scores = lexicalScores(lexical, query.words);
  if (new Set(query.words).size <= DEFAULTS.shortQuery) {
    for (const i of verbs.get(query.words[0] ?? '') ?? []) scores[i]! += DEFAULTS.verbLift * (1 - scores[i]!);
  }
  return textScores(scores, cosines, names.named(query.text), weights, kin);
}

/**
 * The embedding model whose cosines all thresholds of PML are about: those of this file, of plans, learning, graph and
 * capabilities. Another model has other cosines. To change the built-in one, fit the weights and chances below again,
 * map the thresholds with scripts/map-cosines.ts, measure, and name the model here.
 */
const FITTED_MODEL = 'pml-tools-1/int8';

/** Weights of the parts of the fused text score: the first three, of a tool's own text, add up to 1. */
export interface SearchWeights {
  /** Weight of the cosine of the whole query and the tool. */
  readonly whole: number;
  /** Weight of the cosine of the query's best clause and the tool, minus that clause's mean over all tools. */
  readonly clause: number;
  /** Weight of BM25, scaled to [0, 1]. */
  readonly lexical: number;
  /** Share of its server's best tools in the score of a tool, beside its own text. */
  readonly server: number;
}

/** Fitted on six public data sets by scripts/fit-search.ts. */
export const SHIPPED_WEIGHTS: SearchWeights = { whole: 0.35, clause: 0.4, lexical: 0.25, server: 0.25 };

/** Probability that a tool is correct, from its text: coefficients of a logistic of score, rank and lead. */
export interface TextChances {
  readonly bias: number;
  readonly score: number;
  /** Coefficient of the logarithm of the rank, from 1. */
  readonly rank: number;
  /** Coefficient of the lead of the first tool over the second. */
  readonly lead: number;
}

/** Fitted on six public data sets by scripts/fit-text-chances.ts. */
export const SHIPPED_TEXT_CHANCES: TextChances = { bias: -1.88, score: 4.96, rank: -0.77, lead: 12.08 };

/** Probability below which a text is not evidence. */
export const LEAST_TEXT_CHANCE = 0.4;

/** Upper limit of the lead: among few tools, a large lead can be chance. */
const MOST_LEAD = 0.15;

/** Lead of the first of the descending scores over the second; 0 for a single score. */
export function leadOf(scores: ArrayLike<number>): number {
  return scores.length < 2 ? 0 : Math.min(MOST_LEAD, scores[0]! - scores[1]!);
}

/** Probability that the tool at `place` is correct; `scores` are descending. */
export function textChance(
  { bias, score, rank, lead }: TextChances,
  scores: ArrayLike<number>,
  place: number,
): number {
  const own = scores[place]!;
  const ahead = place === 0 ? leadOf(scores) : 0;
  return 1 / (1 + Math.exp(-(bias + score * own + rank * Math.log(place + 1) + lead * ahead)));
}

/**
 * The cosine that a tool must reach for a query, or for one of its clauses, to count as fitting at all. By embedding
 * model, as each has cosines of its own; for another model something always fits. Chosen on the even lines of
 * test/fixtures/findability/intents.jsonl, so that one of fifteen wishes that no tool can serve may pass. Words are left
 * out: wishes that no tool can serve share as many with some tool as others do.
 */
const FLOORS: Readonly<Record<string, number>> = { [FITTED_MODEL]: 0.289 };

/** Whether any tool is near enough to a query; a tool that the query names always is. */
export function somethingFits({ nearest, named }: TextScores, model: string): boolean {
  const floor = FLOORS[model];
  return floor === undefined || named.size > 0 || nearest.some((cosine) => cosine >= floor);
}

/** Share of the floor that a tool must reach to be given as one of the nearest where nothing fits. */
const NEAR = 0.6;

export function isNear({ nearest }: TextScores, tool: number, model: string): boolean {
  return nearest[tool]! >= NEAR * (FLOORS[model] ?? 0);
}
