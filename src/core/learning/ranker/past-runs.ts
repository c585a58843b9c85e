import { StripMatrix } from '../../numeric/kernels.ts';
import { dot, rowOf } from '../../numeric/matrices.ts';
import { RowMatrix, TopK } from '../../numeric/top-k.ts';
import { type Bm25Index, createBm25 } from '../../retrieval/text-scores.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import type { RankExample } from './rank-term.ts';

const DEFAULTS = {
  /** The words of the intents are indexed again after this growth; until then the newest have none. */
  growth: 1.1,
  /** Past runs that are searched, nearest first. */
  runs: 128,
  /** Past intents kept per candidate. */
  nearest: 8,
  /** Weight above which a run counts as a success: failed runs have less. */
  success: 0.4,
};

/** A run as the ranker remembers it. */
export interface PastRun extends IntentForms {
  /** Indices of the candidates it used, without repeats. */
  readonly uses: readonly number[];
  /** Runs with the same key are the same work: none is evidence for another while learning. */
  readonly key: string;
  /** The run's words must not be shown to others. */
  readonly isPrivate?: boolean;
}

/** Past runs, with the indices that features need. */
export class PastRuns {
  readonly #candidates: Candidates;
  readonly #runs: PastRun[] = [];
  readonly #uses: (readonly number[])[] = [];
  readonly #weights: number[] = [];
  readonly #lessons: number[] = [];
  /** One row per run: the vector of its intent. */
  readonly #intents: RowMatrix;
  /** The clauses that were nearest to a tool that their run used. */
  readonly #clauses: DistinctVectors;
  /** One entry per use, in separate arrays: every query reads them sequentially. */
  readonly #usedPlaces: number[] = [];
  readonly #usedByRuns: number[] = [];
  readonly #usedForClauses: number[] = [];
  #lexical: Bm25Index = createBm25([]);
  /** Cache of the last query: features and familiarity need the same cosines. */
  #last: { readonly intent: Float32Array; readonly cosines: Float32Array } | null = null;

  constructor(runs: readonly PastRun[], candidates: Candidates) {
    this.#candidates = candidates;
    this.#intents = new RowMatrix(candidates.vectors.columns);
    this.#clauses = new DistinctVectors(candidates.vectors.columns);
    for (const run of runs) this.add(run);
  }

  add(run: PastRun, weight = 1): void {
    for (const [clause, uses] of usesByClause(run, this.#candidates)) {
      const row = this.#clauses.add(run.clauses[clause]!);
      for (const place of uses) {
        this.#usedPlaces.push(place);
        this.#usedByRuns.push(this.#runs.length);
        this.#usedForClauses.push(row);
      }
    }
    this.#intents.push(run.intent);
    this.#runs.push(run);
    this.#uses.push(run.uses);
    this.#weights.push(weight);
    this.#lessons.push(weight);
  }

  get runs(): readonly PastRun[] {
    return this.#runs;
  }

  get uses(): readonly (readonly number[])[] {
    return this.#uses;
  }

  /** Belief in each run, in [0, 1]; 1 until `weigh` is called. */
  get weights(): readonly number[] {
    return this.#weights;
  }

  /** Training weight of each run, in [0, 1]. */
  get lessons(): readonly number[] {
    return this.#lessons;
  }

  weigh(weights: ArrayLike<number>, lessons = weights): void {
    for (let i = 0; i < weights.length; i++) {
      this.#weights[i] = weights[i]!;
      this.#lessons[i] = lessons[i]!;
    }
  }

  /** Selects the runs with a key, so that none of them is evidence for another. */
  alike(key: string): (run: number) => boolean {
    return (run) => this.#runs[run]!.key === key;
  }

  /** Cosines of an intent and those of all runs. */
  cosines(intent: Float32Array): Float32Array {
    const { runs } = this;
    if (this.#last?.intent !== intent || this.#last.cosines.length !== runs.length)
      this.#last = { intent, cosines: this.#intents.dots(intent) };
    return this.#last.cosines;
  }

  /** BM25 of some words against each run's intent, scaled so that the best has 1. */
  lexicalLikeness(words: readonly string[]): Float64Array {
    if (this.#runs.length > DEFAULTS.growth * this.#lexical.size) {
      this.#lexical = createBm25(this.#runs.map(({ words: said }) => said));
    }
    const scores = new Float64Array(this.#runs.length);
    scores.set(this.#lexical.scores(words));
    const most = scores.reduce((best, score) => Math.max(best, score), 0) || 1;
    return scores.map((score) => score / most);
  }

  /**
   * For each candidate, the greatest cosine of a given clause and the clause that a run used the candidate for (the
   * run's clause nearest to the candidate); at least 0.
   */
  clauseUsers(clauses: readonly Float32Array[], isHidden?: (run: number) => boolean): Float64Array {
    const greatest = new Float64Array(this.#candidates.size);
    const cosines = this.#clauses.greatestDots(clauses);
    for (let i = 0; i < this.#usedPlaces.length; i++) {
      if (isHidden?.(this.#usedByRuns[i]!)) continue;
      const cosine = cosines[this.#usedForClauses[i]!]!;
      const place = this.#usedPlaces[i]!;
      if (cosine > greatest[place]!) greatest[place] = cosine;
    }
    return greatest;
  }
}

function usesByClause({ clauses, uses }: PastRun, { vectors }: Candidates): Map<number, number[]> {
  return Map.groupBy(uses, (place) => {
    const vector = rowOf(vectors, place);
    let nearest = 0;
    let most = Number.NEGATIVE_INFINITY;
    for (const [i, clause] of clauses.entries()) {
      const cosine = dot(clause, vector);
      if (cosine > most) [nearest, most] = [i, cosine];
    }
    return nearest;
  });
}

/** Numbers of a vector that form its hash key; vectors with the same key are compared in full. */
const LOOKED_AT = 3;

/**
 * A set of vectors: people repeat the same words, so that each distinct text is stored and compared
 * only once.
 */
export class DistinctVectors {
  readonly #rows: StripMatrix;
  readonly #vectors: Float32Array[] = [];
  readonly #alike = new Map<string, number[]>();

  constructor(columns: number) {
    this.#rows = new StripMatrix(columns);
  }

  get size(): number {
    return this.#vectors.length;
  }

  /** Returns the row of the vector, or of an equal one. The vector must not change afterwards. */
  add(vector: Float32Array): number {
    const key = vector.subarray(0, LOOKED_AT).join();
    const alike = this.#alike.get(key) ?? [];
    const known = alike.find((row) => isEqual(this.#vectors[row]!, vector));
    if (known !== undefined) return known;
    const row = this.#vectors.push(vector) - 1;
    this.#rows.push(vector);
    this.#alike.set(key, [...alike, row]);
    return row;
  }

  /** For each row, the greatest of its dot products with the queries. */
  greatestDots(queries: readonly Float32Array[]): Float32Array {
    return this.#rows.greatestDots(queries);
  }
}

function isEqual(a: Float32Array, b: Float32Array): boolean {
  if (a === b) return true;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** What terms read from past runs besides the features. */
export type PastForTerms = Required<Pick<RankExample, 'pastIntents' | 'edges' | 'hiddenEdges'>>;

/**
 * Hidden runs contribute neither intents nor edges. `edges` are the tools of each run, in order of runs, followed by
 * other sets of the hypergraph; all examples of a batch share the list.
 */
export function pastForTerms(
  intent: Float32Array,
  past: Pick<PastRuns, 'runs' | 'uses' | 'weights' | 'cosines'>,
  isHidden: (run: number) => boolean = () => false,
  edges: readonly (readonly number[])[] = past.uses,
): PastForTerms {
  const { runs, nearest, success } = DEFAULTS;
  const cosines = past.cosines(intent);
  const near = new TopK(runs);
  const hiddenEdges: number[] = [];
  for (let run = 0; run < past.runs.length; run++) {
    if (isHidden(run)) hiddenEdges.push(run);
    else if (past.weights[run]! > success) near.offer(run, cosines[run]!);
  }
  const pastIntents = new Map<number, Float32Array[]>();
  for (const { row } of near.sorted()) {
    for (const place of past.uses[row]!) {
      const intents = pastIntents.get(place) ?? [];
      if (intents.length < nearest) pastIntents.set(place, [...intents, past.runs[row]!.intent]);
    }
  }
  return { pastIntents, edges, hiddenEdges };
}
