import type { Plan } from '../../core/vocabulary/plan.ts';

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
