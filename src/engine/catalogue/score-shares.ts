import { SHIPPED_WEIGHTS } from '../../core/retrieval/search-weights.ts';
import type { SearchHit } from '../gateway.ts';

/** What each part adds to a final score; together they make it. */
export interface ScoreShares {
  /** The meaning of the whole query. */
  readonly semantic: number;
  /** The meaning of its best clause. */
  readonly clause: number;
  readonly lexical: number;
  readonly name: number;
  readonly graph: number;
  /** Stands in the place of the four of the text. */
  readonly learned: number;
}

export function scoreShares({ parts, semanticScore, graphScore }: SearchHit): ScoreShares {
  const { whole, clause, lexical, alpha, learned } = parts;
  const graph = (1 - alpha) * graphScore;
  if (learned !== undefined) {
    return { semantic: 0, clause: 0, lexical: 0, name: 0, graph, learned: alpha * learned };
  }
  const text = {
    semantic: alpha * SHIPPED_WEIGHTS.whole * whole,
    clause: alpha * SHIPPED_WEIGHTS.clause * clause,
    lexical: alpha * SHIPPED_WEIGHTS.lexical * lexical,
  };
  // A name lifts what the other parts of the text made.
  const name = alpha * semanticScore - text.semantic - text.clause - text.lexical;
  return { ...text, name, graph, learned: 0 };
}
