import { Graph, layout } from '@dagrejs/dagre';
import type { Plan } from '../../../shared/run-types.ts';

const DEFAULTS = { width: 200, height: 62, between: 26, layers: 48, margin: 10 };

export interface PlacedTask {
  readonly id: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  /** From the right side of one task to the left side of the other, around those between. */
  readonly points: readonly Point[];
}

export interface PlacedPlan {
  readonly width: number;
  readonly height: number;
  /** From the first layer to the last. */
  readonly tasks: readonly PlacedTask[];
  readonly edges: readonly PlacedEdge[];
}

/** Layers from left to right: Sugiyama, Tagawa and Toda (1981), by dagre. */
export function layoutPlan({ tasks }: Pick<Plan, 'tasks'>): PlacedPlan {
  const { width, height, between, layers, margin } = DEFAULTS;
  const graph = new Graph()
    .setGraph({ rankdir: 'LR', nodesep: between, ranksep: layers, marginx: margin, marginy: margin })
    .setDefaultEdgeLabel(() => ({}));
  const known = new Set(tasks.map(({ id }) => id));
  for (const { id } of tasks) graph.setNode(id, { width, height });
  for (const { id, depends_on } of tasks) {
    for (const from of depends_on) if (known.has(from)) graph.setEdge(from, id);
  }
  layout(graph);
  const centre = (id: string) => graph.node(id) as unknown as Point;
  const size = graph.graph() as { width?: number; height?: number };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    tasks: tasks
      .map(({ id }) => {
        const { x, y } = centre(id);
        return { id, left: x - width / 2, top: y - height / 2, width, height };
      })
      .sort((a, b) => a.left - b.left || a.top - b.top),
    edges: graph.edges().map((edge: { readonly v: string; readonly w: string }) => {
      const { points } = graph.edge(edge) as unknown as { points: Point[] };
      const [from, to] = [centre(edge.v), centre(edge.w)];
      return {
        from: edge.v,
        to: edge.w,
        // Of three points the middle one lies between two neighbouring layers; of more, every other within one.
        points: [
          { x: from.x + width / 2, y: from.y },
          ...points.slice(1, -1).filter((_, i) => i % 2 === 1),
          { x: to.x - width / 2, y: to.y },
        ],
      };
    }),
  };
}

/** A smooth line through the points that leaves and reaches each of them level. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let { x, y } = first;
  const curves = rest.map((point) => {
    const middle = (x + point.x) / 2;
    const curve = `C${middle} ${y} ${middle} ${point.y} ${point.x} ${point.y}`;
    ({ x, y } = point);
    return curve;
  });
  return `M${first.x} ${first.y}${curves.join('')}`;
}

/** What can run together, one after the other: each task in the layer behind the last one it waits for. */
export function layersOf({ tasks }: Pick<Plan, 'tasks'>): string[][] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const depths = new Map<string, number>();
  const depthOf = (id: string): number => {
    const known = depths.get(id);
    if (known !== undefined) return known;
    const before = (byId.get(id)?.depends_on ?? []).filter((from) => byId.has(from));
    const depth = 1 + Math.max(-1, ...before.map(depthOf));
    depths.set(id, depth);
    return depth;
  };
  return [...Map.groupBy(tasks, ({ id }) => depthOf(id))]
    .sort(([a], [b]) => a - b)
    .map(([, layer]) => layer.map(({ id }) => id));
}
