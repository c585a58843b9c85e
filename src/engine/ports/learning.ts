import type { CandidateEntry } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun, LearningProgress } from '../../core/learning/ranker/learn-ranker.ts';
import type { ModelChoice } from '../../core/learning/ranker/model-choice.ts';
import type { Taken, Trained } from '../../core/learning/ranker/rank-learner.ts';
import type { Plan } from '../../core/vocabulary/plan.ts';
export interface Embedder {
  /** Stored beside each vector; vectors of two models are never compared. */
  readonly model: string;
  readonly dimension: number;
  /** Unit vectors, one per text, in order. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface Neighbour {
  readonly id: string;
  /** Dot product with the query: the cosine, as all vectors are unit vectors. */
  readonly score: number;
}

export interface VectorIndex {
  readonly dimension: number;
  readonly size: number;
  /** Adds or replaces. */
  set(id: string, vector: Float32Array): void;
  /** A copy. */
  get(id: string): Float32Array | undefined;
  delete(id: string): boolean;
  /** The k best, best first; equal scores in order of insertion. */
  nearest(query: Float32Array, k: number): Neighbour[];
  /** The score of each of these, in their order; NaN where it has no vector. */
  scores(query: Float32Array, ids: readonly string[]): Float32Array;
}

/**
 * The same in a database, for more vectors than memory should hold: each answer is waited for, and the nearest are
 * nearly always those that looking at all of them would find.
 */
export interface StoredVectorIndex {
  readonly dimension: number;
  readonly size: Promise<number>;
  set(id: string, vector: Float32Array): Promise<void>;
  get(id: string): Promise<Float32Array | undefined>;
  delete(id: string): Promise<boolean>;
  nearest(query: Float32Array, k: number): Promise<Neighbour[]>;
  scores(query: Float32Array, ids: readonly string[]): Promise<Float32Array>;
}

/**
 * Learns the ranker, off the path of every answer: what is asked is done in order, and nobody who serves
 * waits for it. Its memory is its own; it is told of runs and candidates as they come.
 */
export interface Trainer {
  /** What can be ranked from now on. */
  offer(tools: readonly CandidateEntry[], capabilities: readonly CandidateEntry[]): Promise<void>;
  /** Runs of earlier, oldest first. */
  recall(runs: readonly LearnableRun[]): Promise<void>;
  /** How far each run is believed, in the order they are kept; 1 where nothing it used is known. */
  weights(): Promise<readonly number[]>;
  /** Takes up parameters that were learned earlier; null: as before anything was learned. */
  load(params: Uint8Array | null): Promise<void>;
  /** A run that just ended; null where it teaches nothing (yet). */
  take(run: LearnableRun): Promise<Taken | null>;
  /** Trains from scratch on all runs. Rejects with `cancelled` when stopped; nothing has changed then. */
  train(options?: {
    readonly onProgress?: (progress: LearningProgress) => void;
    readonly signal?: AbortSignal;
  }): Promise<Trained>;
  close(): Promise<void>;
}

/** What a trainer must know from the start. */
export interface TrainerOptions {
  readonly embedding: string;
  readonly dimension: number;
  readonly seed: number;
  /** What differs from the model that serves by default. */
  readonly model?: ModelChoice;
}

/** A plan that was suggested, and what became of it. */
export interface StoredSuggestion {
  readonly id: string;
  readonly sessionId: string | null;
  readonly intentText: string;
  readonly plan: Plan;
  readonly confidence: number;
  readonly createdAt: Date;
  /** Null while nobody has taken it up or turned it down. */
  readonly outcome: SuggestionOutcome | null;
}

export interface SuggestionOutcome {
  /** `accepted`: run as it was. `edited`: run with other tasks or in another order. */
  readonly verdict: 'accepted' | 'edited' | 'rejected';
  /** The run it led to, or the one that was made in its place. */
  readonly runId: string | null;
  /** Tools and capabilities that were taken out, put in, or made to wait for others. */
  readonly left: readonly string[];
  readonly came: readonly string[];
  readonly moved: readonly string[];
  readonly at: Date;
}

export interface SuggestionCounts {
  readonly made: number;
  readonly accepted: number;
  readonly edited: number;
  readonly rejected: number;
}

export interface SuggestionStore {
  put(suggestion: StoredSuggestion): Promise<void>;
  get(id: string): Promise<StoredSuggestion | null>;
  /** False when it is settled already: the first outcome stands. */
  settle(id: string, outcome: SuggestionOutcome): Promise<boolean>;
  /** Of a session, not settled, newest first. */
  open(sessionId: string, limit: number): Promise<StoredSuggestion[]>;
  /** Those from which something was taken out, newest first. */
  doubted(limit: number): Promise<StoredSuggestion[]>;
  /** Of all there were, also of those whose time is over. */
  counts(): Promise<SuggestionCounts>;
  /**
   * Removes those made before this moment; of those from which something was taken out, the newest `doubted` of all stay.
   * Answers how many went.
   */
  expire(before: Date, doubted: number): Promise<number>;
}
