import type { NodeKind } from '../../../shared/vocabulary.ts';

/** The shape that a kind of node has in the graph. */
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
