/** Words of the core that the page uses as well; it imports nothing else of it. */
export { EDGE_SOURCES, EDGE_TYPES, type EdgeSource, type EdgeType } from '../../../core/vocabulary/edge.ts';
export { kindOf, type NodeKind } from '../../../core/vocabulary/ids.ts';
