import { dot } from '../numeric/dot.ts';
import { rowOf } from '../numeric/matrices.ts';
import { RowMatrix } from '../numeric/row-matrix.ts';
import { type Bm25Index, createBm25 } from '../retrieval/bm25.ts';
import type { Candidates, IntentForms } from './candidates.ts';

/** A run as the ranker remembers it. */
export interface PastRun extends IntentForms {
  /** Places of the candidates it used, without repeats. */
  readonly uses: readonly number[];
  /** Runs of one key are the same work: none speaks for another while learning. */
  readonly key: string;
}

/** The clause of a past intent that was nearest to the tools it was used for. */
interface Prototype {
  readonly run: number;
  readonly uses: readonly number[];
}

/** Past runs, laid out for the questions that features ask of them. */
export class PastRuns {
  readonly runs: readonly PastRun[];
  readonly uses: readonly (readonly number[])[];
  /** How far each is believed, in [0, 1]: all alike until somebody weighs them. */
  readonly weights: Float64Array;
  readonly prototypes: readonly Prototype[];
  readonly #lexical: Bm25Index;
  readonly #intents: RowMatrix;
  readonly #clauses: RowMatrix;

  constructor(runs: readonly PastRun[], candidates: Candidates) {
    this.runs = runs;
    this.uses = runs.map(({ uses }) => uses);
    this.weights = new Float64Array(runs.length).fill(1);
    this.#lexical = createBm25(runs.map(({ words }) => words));
    this.#intents = new RowMatrix(candidates.vectors.columns);
    this.#clauses = new RowMatrix(candidates.vectors.columns);
    const prototypes: Prototype[] = [];
    for (const [i, run] of runs.entries()) {
      this.#intents.push(run.intent);
      for (const [clause, uses] of usesByClause(run, candidates)) {
        this.#clauses.push(run.clauses[clause]!);
        prototypes.push({ run: i, uses });
      }
    }
    this.prototypes = prototypes;
  }

  /** Cosine of an intent and each run's. */
  cosines(intent: Float32Array): Float32Array {
    return this.#intents.dots(intent);
  }

  /** BM25 of some words against each run's intent, on a scale where the best has 1. */
  lexicalLikeness(words: readonly string[]): Float64Array {
    const scores = this.#lexical.scores(words);
    const most = scores.reduce((best, score) => Math.max(best, score), 0) || 1;
    return scores.map((score) => score / most);
  }

  /** For each prototype the cosine of the clause that is nearest to it. */
  nearestClause(clauses: readonly Float32Array[]): Float32Array {
    const best = this.#clauses.dots(clauses[0]!);
    for (const clause of clauses.slice(1)) {
      const cosines = this.#clauses.dots(clause);
      for (let i = 0; i < best.length; i++) if (cosines[i]! > best[i]!) best[i] = cosines[i]!;
    }
    return best;
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
