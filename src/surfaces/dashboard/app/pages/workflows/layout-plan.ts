import { Graph, layout } from '@dagrejs/dagre';
import type { Plan } from '../../../shared/run-types.ts';

const DEFAULTS = { width: 212, height: 62, between: 26, layers: 56, margin: 12 };

export interface PlacedTask {
  readonly id: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface PlacedPlan {
  readonly width: number;
  readonly height: number;
  /** From the first layer to the last. */
  readonly tasks: readonly PlacedTask[];
  readonly edges: readonly PlacedEdge[];
}

/** Layers from left to right or from top to bottom: Sugiyama, Tagawa and Toda (1981), by dagre. */
export function layoutPlan({ tasks }: Plan, direction: 'LR' | 'TB'): PlacedPlan {
  const { width, height, between, layers, margin } = DEFAULTS;
  const graph = new Graph()
    .setGraph({ rankdir: direction, nodesep: between, ranksep: layers, marginx: margin, marginy: margin })
    .setDefaultEdgeLabel(() => ({}));
  const known = new Set(tasks.map(({ id }) => id));
  for (const { id } of tasks) graph.setNode(id, { width, height });
  for (const { id, depends_on } of tasks) {
    for (const from of depends_on) if (known.has(from)) graph.setEdge(from, id);
  }
  layout(graph);
  const placed = tasks.map(({ id }) => {
    const { x, y } = graph.node(id) as { x: number; y: number };
    return { id, left: x - width / 2, top: y - height / 2, width, height };
  });
  const [along, across] = direction === 'LR' ? (['left', 'top'] as const) : (['top', 'left'] as const);
  const size = graph.graph() as { width?: number; height?: number };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    tasks: placed.sort((a, b) => a[along] - b[along] || a[across] - b[across]),
    edges: graph.edges().map((edge) => ({
      from: edge.v,
      to: edge.w,
      points: (graph.edge(edge) as { points: { x: number; y: number }[] }).points,
    })),
  };
}

/** A smooth line through the points: quadratic curves with the points between as their control points. */
export function pathOf(points: PlacedEdge['points']): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const last = rest.pop();
  const curves = rest.map((point, i) => {
    const next = rest[i + 1] ?? last ?? point;
    const end = i === rest.length - 1 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${curves.join('')}${rest.length === 0 && last ? `L${last.x} ${last.y}` : ''}`;
}
