import type { EdgeSource, EdgeType } from '../../../core/vocabulary/edge.ts';

/** Constants of the core that the page uses; it imports nothing else from it. */
export { EDGE_SOURCES, EDGE_TYPES, type EdgeSource, type EdgeType } from '../../../core/vocabulary/edge.ts';
export { kindOf, type NodeKind } from '../../../core/vocabulary/ids.ts';

export {
  NOTHING_FITS,
  NOTHING_LEARNED_APPLIES,
  rankingInWords,
} from '../../../core/vocabulary/ranking-words.ts';

export { estimateTokens } from '../../../core/vocabulary/text.ts';

/**
 * Colour shows an edge's type, the line style its source. Both themes use the same colours; on a light
 * background the pale ones have an outline (`LIGHT_OUTLINE`), so that they are visible.
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

/** Outline of edges on a light background. */
export const LIGHT_OUTLINE = '#5c5348';
