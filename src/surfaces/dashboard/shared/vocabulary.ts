import type { EdgeSource, EdgeType } from '../../../core/vocabulary/edge.ts';

/** Words of the core that the page uses as well; it imports nothing else of it. */
export { EDGE_SOURCES, EDGE_TYPES, type EdgeSource, type EdgeType } from '../../../core/vocabulary/edge.ts';
export { kindOf, type NodeKind } from '../../../core/vocabulary/ids.ts';

export { NOTHING_LEARNED_APPLIES, rankingInWords } from '../../../core/vocabulary/ranking-words.ts';

/**
 * Colour says the type of an edge, the line says how it is known. Both themes have the same colours;
 * on a light ground the pale ones are drawn with an outline (`LIGHT_OUTLINE`), so that they are seen.
 */
export const EDGE_COLOURS: Readonly<Record<EdgeType, string>> = {
  contains: '#22c55e',
  sequence: '#FFB86F',
  dependency: '#f5f0ea',
  provides: '#4cc9f0',
  conditional: '#c79bff',
  alternative: '#ff7a9c',
};

export const EDGE_LINES: Readonly<Record<EdgeSource, 'solid' | 'dashed' | 'dotted'>> = {
  observed: 'solid',
  inferred: 'dashed',
  template: 'dotted',
};

/** Around edges on a light ground. */
export const LIGHT_OUTLINE = '#5c5348';
