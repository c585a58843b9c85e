import type { SearchHit } from './api-types.ts';
import type { CapabilityHit } from './capability-types.ts';

/** What each part adds to a final score; together they make it. */
export interface ScoreShares {
  readonly semantic: number;
  readonly clause: number;
  readonly lexical: number;
  readonly name: number;
  readonly graph: number;
  readonly learned: number;
}

export interface ExplainedHit extends SearchHit {
  readonly shares: ScoreShares;
}

/** `/api/search?explain=1&capabilities=1` */
export interface ExplainedSearch {
  readonly tools: readonly ExplainedHit[];
  readonly capabilities: readonly CapabilityHit[];
}
