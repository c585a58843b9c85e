import { dot } from '../../numeric/dot.ts';
import { rowOf } from '../../numeric/matrices.ts';
import { RowMatrix } from '../../numeric/row-matrix.ts';
import { type Bm25Index, createBm25 } from '../../retrieval/bm25.ts';
import type { Candidates, IntentForms } from './candidates.ts';
import { DistinctVectors } from './distinct-vectors.ts';

/** A run as the ranker remembers it. */
export interface PastRun extends IntentForms {
  /** Places of the candidates it used, without repeats. */
  readonly uses: readonly number[];
  /** Runs of one key are the same work: none speaks for another while learning. */
  readonly key: string;
  /** Its words are not for others to read. */
  readonly isPrivate?: boolean;
}

const DEFAULTS = {
  /** Growth after which the words of the intents are counted anew; until then the newest share none. */
  growth: 1.1,
};

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
