import type { Core } from 'cytoscape';
import type { Drawing } from './drawing.ts';
import { type Palette, translucent } from './graph-style.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A corner of a rounded outline: an arc around a point between two angles, clockwise on the screen. */
interface Corner extends Point {
  readonly from: number;
  readonly to: number;
}

const DEFAULTS = {
  /** Padding of a hull around single nodes, and per level of nested hulls, in pixels of the drawing. */
  padding: 30,
  perLevel: 16,
  clusterPadding: 56,
  hullAlpha: 0.1,
  clusterAlpha: 0.055,
  scale: 2,
  /** Longest side in pixels: browsers refuse larger canvases. */
  longest: 8_000,
  margin: 80,
};

export type Background = 'none' | 'louvain' | 'spectral' | 'server';

/** An outline around nodes. */
export interface Region {
  readonly name: string;
  readonly nodes: readonly string[];
  readonly padding: number;
  /** Index of its colour. */
  readonly hue: number;
  readonly isHull: boolean;
}

/** Clusters first, and larger hulls before smaller ones, because later ones are painted on top. */
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

/** Paints on a context in units of the drawing. `scale` is pixels per unit. */
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

/**
 * Corners in order; for collinear points only the ends. Andrew, "Another efficient algorithm for convex
 * hulls" (1979).
 */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  if (sorted.length < 3) return sorted;
  const half = (all: readonly Point[]) => {
    const chain: Point[] = [];
    for (const point of all) {
      while (chain.length >= 2 && cross(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

function cross(origin: Point, a: Point, b: Point): number {
  return (a.x - origin.x) * (b.y - origin.y) - (a.y - origin.y) * (b.x - origin.x);
}

/** The hull expanded by the padding: arcs with that radius, joined by straight lines. */
export function roundedHull(points: readonly Point[]): Corner[] {
  const hull = convexHull(points);
  if (hull.length === 1) return [{ ...hull[0]!, from: 0, to: 2 * Math.PI }];
  return hull.map((corner, i) => {
    const [before, after] = [hull.at(i - 1)!, hull[(i + 1) % hull.length]!];
    return { ...corner, from: normal(before, corner), to: normal(corner, after) };
  });
}

/** Angle of the outward normal of a side. */
function normal(from: Point, to: Point): number {
  return Math.atan2(from.x - to.x, to.y - from.y);
}

/** The whole graph as a PNG, with what is painted behind it, whatever part is in view. */
export async function picture(
  core: Core,
  palette: Palette,
  paint: (context: CanvasRenderingContext2D, scale: number) => void,
): Promise<Blob> {
  const box = core.elements().boundingBox({});
  const [width, height] = [box.w + 2 * DEFAULTS.margin, box.h + 2 * DEFAULTS.margin];
  const scale = Math.min(DEFAULTS.scale, DEFAULTS.longest / Math.max(width, height));
  const canvas = new OffscreenCanvas(Math.ceil(width * scale), Math.ceil(height * scale));
  const context = canvas.getContext('2d') as unknown as CanvasRenderingContext2D;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const [left, top] = [(DEFAULTS.margin - box.x1) * scale, (DEFAULTS.margin - box.y1) * scale];
  context.setTransform(scale, 0, 0, scale, left, top);
  paint(context, scale);
  context.setTransform(1, 0, 0, 1, 0, 0);
  const drawn = await createImageBitmap(await core.png({ output: 'blob-promise', full: true, scale }));
  context.drawImage(drawn, DEFAULTS.margin * scale, DEFAULTS.margin * scale);
  return await canvas.convertToBlob({ type: 'image/png' });
}
