import type { CandidateEntry } from '../../core/learning/ranker/candidates.ts';
import type { LearnableRun, LearningProgress } from '../../core/learning/ranker/learn-ranker.ts';
import type { ModelChoice } from '../../core/learning/ranker/model-choice.ts';
import type { Taken, Trained } from '../../core/learning/ranker/rank-learner.ts';

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
  /** Trains anew on all runs. Rejects with `cancelled` when stopped; nothing has changed then. */
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
