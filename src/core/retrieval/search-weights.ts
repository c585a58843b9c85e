/** How much each part of the fused text score counts; together they make 1. */
export interface SearchWeights {
  /** Cosine of the whole query and the tool. */
  readonly whole: number;
  /** Cosine of the query's best clause and the tool, less what that clause has in common with all tools. */
  readonly clause: number;
  /** BM25, squashed. */
  readonly lexical: number;
}

/** Fitted on six public data sets by scripts/fit-search.ts. */
export const SHIPPED_WEIGHTS: SearchWeights = { whole: 0.2, clause: 0.4, lexical: 0.4 };
