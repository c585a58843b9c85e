import type { EdgeSource, EdgeType } from '../../../core/vocabulary/edge.ts';

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
