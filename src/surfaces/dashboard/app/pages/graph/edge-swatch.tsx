import { EDGE_COLOURS, EDGE_LINES } from '../../../shared/edge-style.ts';
import type { EdgeSource, EdgeType } from '../../../shared/vocabulary.ts';

const DASHES = { solid: undefined, dashed: '6 4', dotted: '0.1 5' };

/** A piece of an edge as the graph draws it. Without a type it is about the line only. */
export function EdgeSwatch({ type, source = 'observed' }: { type?: EdgeType; source?: EdgeSource }) {
  const line = EDGE_LINES[source];
  const dashes = DASHES[line];
  const shape = {
    x1: 2,
    y1: 6,
    x2: 24,
    y2: 6,
    'stroke-dasharray': dashes,
    'stroke-linecap': line === 'dotted' ? ('round' as const) : ('butt' as const),
  };
  return (
    <svg class="edge-swatch" width={26} height={12} viewBox="0 0 26 12" aria-hidden="true">
      {type && <line class="edge-outline" {...shape} />}
      <line class="edge-line" {...shape} stroke={type ? EDGE_COLOURS[type] : 'currentColor'} />
    </svg>
  );
}
