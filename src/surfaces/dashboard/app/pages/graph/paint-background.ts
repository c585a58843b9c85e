import type { Drawing } from './drawing.ts';
import { type Point, roundedHull } from './hull.ts';
import { type Palette, translucent } from './palette.ts';

const DEFAULTS = {
  /** Of a hull around single nodes, and for each level of hulls within it, in pixels of the drawing. */
  padding: 30,
  perLevel: 16,
  clusterPadding: 56,
  hullAlpha: 0.1,
  clusterAlpha: 0.055,
};

export type Background = 'none' | 'louvain' | 'spectral' | 'server';

/** Something with an outline around nodes. */
export interface Region {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly padding: number;
  /** Index of its colour. */
  readonly hue: number;
  readonly isHull: boolean;
}

/** Clusters first and larger hulls before smaller ones: what comes later is painted over what came before. */
export function regionsOf(drawing: Drawing, background: Background, hueOf: (id: string) => number): Region[] {
  return [...clustersOf(drawing, background), ...hullsOf(drawing, hueOf)];
}

function hullsOf({ members }: Drawing, hueOf: (id: string) => number): Region[] {
  const levels = new Map<string, number>();
  const levelOf = (id: string, above: ReadonlySet<string>): number => {
    const known = levels.get(id);
    if (known !== undefined) return known;
    const inner = [...(members.get(id) ?? [])].filter((each) => members.has(each) && !above.has(each));
    const level =
      inner.length === 0 ? 0 : 1 + Math.max(...inner.map((each) => levelOf(each, new Set([...above, id]))));
    levels.set(id, level);
    return level;
  };
  return [...members]
    .map(([id, inside]) => ({
      name: id,
      nodes: [id, ...inside],
      padding: DEFAULTS.padding + DEFAULTS.perLevel * levelOf(id, new Set()),
      hue: hueOf(id),
      isHull: true,
    }))
    .sort((a, b) => b.padding - a.padding || b.nodes.length - a.nodes.length);
}

function clustersOf({ nodes }: Drawing, background: Background): Region[] {
  if (background === 'none') return [];
  const keyOf = (node: Drawing['nodes'][number]) =>
    background === 'louvain' ? node.community : background === 'spectral' ? node.cluster : node.server;
  return [...Map.groupBy(nodes, keyOf)]
    .filter(([key, all]) => key !== null && all.length > 1)
    .map(([key, all], i) => ({
      name:
        background === 'server'
          ? String(key)
          : `${background === 'louvain' ? 'Community' : 'Cluster'} ${Number(key) + 1}`,
      nodes: all.map(({ id }) => id),
      padding: DEFAULTS.clusterPadding,
      hue: i,
      isHull: false,
    }));
}

/** Onto a context whose units are those of the drawing. `scale` is pixels per unit. */
export function paintRegions(
  context: CanvasRenderingContext2D,
  regions: readonly Region[],
  placeOf: (id: string) => Point | undefined,
  palette: Palette,
  scale: number,
): void {
  for (const { name, nodes, padding, hue, isHull } of regions) {
    const points = nodes.flatMap((id) => placeOf(id) ?? []);
    if (points.length === 0) continue;
    const colour = palette.hues[hue % palette.hues.length]!;
    context.beginPath();
    for (const { x, y, from, to } of roundedHull(points)) context.arc(x, y, padding, from, to);
    context.closePath();
    context.fillStyle = translucent(colour, isHull ? DEFAULTS.hullAlpha : DEFAULTS.clusterAlpha);
    context.fill();
    context.lineWidth = 1.5 / Math.min(1, scale);
    context.setLineDash(isHull ? [] : [2, 7]);
    context.strokeStyle = translucent(colour, isHull ? 0.55 : 0.5);
    context.stroke();
    if (isHull) continue;
    const top = points.reduce((best, point) => (point.y < best.y ? point : best));
    context.fillStyle = colour;
    context.font = `600 ${13 / Math.min(1, scale)}px ${palette.sans}`;
    context.textAlign = 'center';
    context.fillText(name, top.x, top.y - padding - 8);
  }
  context.setLineDash([]);
}
