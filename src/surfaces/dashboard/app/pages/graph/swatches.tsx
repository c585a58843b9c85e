import type { EdgeSource, EdgeType, NodeKind } from '../../../shared/vocabulary.ts';
import { EDGE_COLOURS, EDGE_LINES } from '../../../shared/vocabulary.ts';

const DASHES = { solid: undefined, dashed: '6 4', dotted: '0.1 5' };

/** A sample of an edge as the graph draws it. Without a type it shows only the line style. */
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

/** The shape of a kind of node in the graph. */
export function NodeGlyph({ kind, hue }: { kind: NodeKind; hue?: number }) {
  const colour = hue === undefined ? 'currentColor' : `var(--graph-hue-${(hue % 8) + 1})`;
  return (
    <svg class="node-glyph" width={16} height={16} viewBox="0 0 16 16" aria-hidden="true">
      {kind === 'tool' && <circle cx={8} cy={8} r={5} style={{ stroke: colour }} />}
      {kind === 'capability' && (
        <path d="M4.6 2.2h6.8L14.8 8l-3.400 5.8H4.6L1.200 8z" style={{ fill: colour, stroke: colour }} />
      )}
      {kind === 'operation' && <path d="M8 2.500 13.500 8 8 13.500 2.500 8z" class="node-glyph-operation" />}
    </svg>
  );
}
