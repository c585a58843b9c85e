import type { SearchHit } from './api-types.ts';
import type { CapabilityHit } from './capability-types.ts';

/** What each part adds to a final score; together they make it. */
export type ScoreShares = NonNullable<SearchHit['shares']>;

/** A hit of a search that was asked to explain itself. */
export type ExplainedHit = SearchHit & { readonly shares: ScoreShares };

/** A search with `explain` and `capabilities`. */
export interface ExplainedSearch {
  readonly tools: readonly ExplainedHit[];
  readonly capabilities: readonly CapabilityHit[];
}
