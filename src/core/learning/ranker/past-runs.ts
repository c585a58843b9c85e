import { rowOf } from '../../numeric/matrices.ts';
import { RowMatrix } from '../../numeric/row-matrix.ts';
import { StripMatrix } from '../../numeric/strip-matrix.ts';
import { TopK } from '../../numeric/top-k.ts';
import { dot } from '../../numeric/vectors.ts';
import { type Bm25Index, createBm25 } from '../../retrieval/text-scores.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import type { RankExample } from './rank-term.ts';

const DEFAULTS = {
  /** Growth after which the words of the intents are counted again; until then the newest share none. */
  growth: 1.1,
  /** Past runs that are looked through, nearest first. */
  runs: 128,
  /** Past intents kept of each candidate. */
  nearest: 8,
  /** Weight above which a run counts as a success: one that failed has less. */
  success: 0.4,
};

/** A run as the ranker remembers it. */
export interface PastRun extends IntentForms {
  /** Places of the candidates it used, without repeats. */
  readonly uses: readonly number[];
  /** Runs of one key are the same work: none speaks for another while learning. */
  readonly key: string;
  /** Its words are not for others to read. */
  readonly isPrivate?: boolean;
}

/** Past runs, laid out for the questions that features ask of them. */
export class PastRuns {
  readonly #candidates: Candidates;
  readonly #runs: PastRun[] = [];
  readonly #uses: (readonly number[])[] = [];
  readonly #weights: number[] = [];
  readonly #lessons: number[] = [];
  /** Of each run the clauses that were nearest to something it used. */
  readonly #intents: RowMatrix;
  readonly #clauses: DistinctVectors;
  /** One entry for each use, lists apart: they are read from end to end for every query, after much else. */
  readonly #usedPlaces: number[] = [];
  readonly #usedByRuns: number[] = [];
  readonly #usedForClauses: number[] = [];
  #lexical: Bm25Index = createBm25([]);
  /** Features of a query and what tells how far it is from the past ask for the same. */
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

  /** How far each is believed, in [0, 1]: all alike until somebody weighs them. */
  get weights(): readonly number[] {
    return this.#weights;
  }

  /** How much each teaches, in [0, 1]. */
  get lessons(): readonly number[] {
    return this.#lessons;
  }

  weigh(weights: ArrayLike<number>, lessons = weights): void {
    for (let i = 0; i < weights.length; i++) {
      this.#weights[i] = weights[i]!;
      this.#lessons[i] = lessons[i]!;
    }
  }

  /** Tells the runs of a key, so that none of them speaks for another. */
  alike(key: string): (run: number) => boolean {
    return (run) => this.#runs[run]!.key === key;
  }

  /** Cosine of an intent and each run's. */
  cosines(intent: Float32Array): Float32Array {
    const { runs } = this;
    if (this.#last?.intent !== intent || this.#last.cosines.length !== runs.length)
      this.#last = { intent, cosines: this.#intents.dots(intent) };
    return this.#last.cosines;
  }

  /** BM25 of some words against each run's intent, on a scale where the best has 1. */
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
   * Per (run, candidate) the run's clause nearest to the candidate; for each candidate the greatest cosine of
   * such a clause and one of these, 0 where there is none above.
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

/** Numbers of a vector by which it is looked up; whole vectors are compared then. */
const LOOKED_AT = 3;

/**
 * Vectors of which each is kept once: people say the same again and again, and a
 * question is compared with each text once.
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

  /** Its row: that of an equal one, if there is one. The vector must not change from now on. */
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

  /** For each row the greatest of its dot products with the queries. */
  greatestDots(queries: readonly Float32Array[]): Float32Array {
    return this.#rows.greatestDots(queries);
  }
}

function isEqual(a: Float32Array, b: Float32Array): boolean {
  if (a === b) return true;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** What terms ask of past runs beside the features. */
export type PastForTerms = Required<Pick<RankExample, 'pastIntents' | 'edges' | 'hiddenEdges'>>;

/**
 * Hidden runs give neither intents nor edges. `edges` are what the runs used, in their order, and whatever sets
 * belong to the hypergraph besides after them; the same list for all examples of a batch.
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
