/**
 * What makes a crowded drawing readable: its many edges as faint lines in the background, and the names of its most
 * important nodes where the nodes are too small for their labels. Thousands of edges as elements of the library would
 * take seconds; here, all edges that look alike are one stroke.
 */
import { EDGE_COLOURS, EDGE_LINES, type EdgeType } from '../../../shared/vocabulary.ts';
import { shownLine } from '../../format.ts';
import type { Drawing, DrawnEdge, DrawnNode } from './drawing.ts';
import { AFAR, LABEL, LINES, type Palette, translucent } from './graph-style.ts';
import type { Point } from './paint-background.ts';

const DEFAULTS = {
  /** Edges beyond which they are painted here. */
  edges: 1_200,
  /** Opacity of that many edges; of more, less, so that a dense drawing does not become one patch. */
  alpha: 0.5,
  leastAlpha: 0.12,
  /** Between two groups: such edges cross everything in between. */
  across: 0.35,
  /** While something else is selected. */
  dim: 0.14,
  /** Widths that are told apart. */
  widths: 3,
  /** Lines of one stroke: the time of a stroke grows faster than its number of lines. */
  stroke: 128,
  arrow: 7,
  /** Names at once, their size in pixels, and the space between two. */
  names: 60,
  nameSize: 11.5,
  nameGap: 4,
};

/** Edges that look alike. */
interface Batch {
  readonly type: EdgeType;
  readonly line: 'solid' | 'dashed' | 'dotted';
  readonly width: number;
  readonly isAcross: boolean;
  /** Indexes of nodes, [2 x edges]. */
  readonly ends: Int32Array;
}

export interface Crowd {
  readonly nodes: readonly string[];
  readonly edges: number;
  readonly batches: readonly Batch[];
}

/** Null when there are few enough edges for each to be an element. */
export function crowdOf({ nodes, edges }: Drawing): Crowd | null {
  if (edges.length <= DEFAULTS.edges) return null;
  const index = new Map(nodes.map(({ id }, i) => [id, i]));
  const [least, most] = LINES.widths;
  const looks = Map.groupBy(edges, ({ type, origin, weight, source, target }) => {
    const width = Math.min(DEFAULTS.widths - 1, Math.floor(weight * DEFAULTS.widths));
    const isAcross = nodes[index.get(source)!]!.community !== nodes[index.get(target)!]!.community;
    return `${type} ${origin} ${width} ${isAcross}`;
  });
  const batches = [...looks].map(([look, all]): Batch => {
    const [, , width, isAcross] = look.split(' ');
    const { type, origin } = all[0]!;
    return {
      type,
      line: EDGE_LINES[origin],
      width: least + ((most - least) * (Number(width) + 0.5)) / DEFAULTS.widths,
      isAcross: isAcross === 'true',
      ends: Int32Array.from(all.flatMap(({ source, target }) => [index.get(source)!, index.get(target)!])),
    };
  });
  // Edges across the drawing are below the others.
  batches.sort((a, b) => Number(b.isAcross) - Number(a.isAcross) || a.width - b.width);
  return { nodes: nodes.map(({ id }) => id), edges: edges.length, batches };
}

/** Those that are drawn as elements in front of the crowd: of the selected node, or of the marked path. */
export function litEdges(
  { edges }: Drawing,
  chosen: string | null,
  path: { readonly edges: readonly string[] } | null,
): DrawnEdge[] {
  const onPath = new Set(path?.edges);
  return edges.filter(
    ({ id, source, target }) =>
      onPath.has(id) || (path === null && chosen !== null && (source === chosen || target === chosen)),
  );
}

/** Paints on a context in units of the drawing. `scale` is pixels per unit. */
export function paintCrowd(
  context: CanvasRenderingContext2D,
  { nodes, edges, batches }: Crowd,
  placeOf: (id: string) => Point | undefined,
  palette: Palette,
  { scale, isDim }: { readonly scale: number; readonly isDim: boolean },
): void {
  const at = new Float64Array(2 * nodes.length).fill(Number.NaN);
  for (const [i, id] of nodes.entries()) {
    const place = placeOf(id);
    if (place) at.set([place.x, place.y], 2 * i);
  }
  const isFar = scale < AFAR;
  const thinned = DEFAULTS.alpha * Math.sqrt(DEFAULTS.edges / edges);
  const alpha = Math.max(DEFAULTS.leastAlpha, thinned) * (isDim ? DEFAULTS.dim : 1);
  for (const { type, line, width, isAcross, ends } of batches) {
    const colour = palette.outline !== null && type === 'dependency' ? palette.outline : EDGE_COLOURS[type];
    context.globalAlpha = alpha * (isAcross ? DEFAULTS.across : 1);
    context.strokeStyle = colour;
    context.fillStyle = colour;
    // Thinner than a pixel, a line would be as pale as it is thin; close up, it would cover what is behind it.
    context.lineWidth = Math.min(Math.max(width, 0.7 / scale), width / scale);
    context.setLineDash(isFar || line === 'solid' ? [] : line === 'dashed' ? LINES.dashes : LINES.squareDots);
    for (let from = 0; from < ends.length; from += 2 * DEFAULTS.stroke) {
      const some = ends.subarray(from, from + 2 * DEFAULTS.stroke);
      context.beginPath();
      for (let e = 0; e < some.length; e += 2) {
        const [i, j] = [2 * some[e]!, 2 * some[e + 1]!];
        context.moveTo(at[i]!, at[i + 1]!);
        context.lineTo(at[j]!, at[j + 1]!);
      }
      context.stroke();
      if (!isFar) paintArrows(context, some, at);
    }
  }
  context.globalAlpha = 1;
  context.setLineDash([]);
}

/** In the middle of each edge: its end is hidden by the node. */
function paintArrows(context: CanvasRenderingContext2D, ends: Int32Array, at: Float64Array): void {
  context.beginPath();
  for (let e = 0; e < ends.length; e += 2) {
    const [i, j] = [2 * ends[e]!, 2 * ends[e + 1]!];
    const [dx, dy] = [at[j]! - at[i]!, at[j + 1]! - at[i + 1]!];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [(dx / length) * DEFAULTS.arrow, (dy / length) * DEFAULTS.arrow];
    const [x, y] = [at[i]! + 0.6 * dx, at[i + 1]! + 0.6 * dy];
    context.moveTo(x + ux, y + uy);
    context.lineTo(x - ux - uy * 0.7, y - uy + ux * 0.7);
    context.lineTo(x - ux + uy * 0.7, y - uy - ux * 0.7);
  }
  context.fill();
}

/**
 * Names of nodes, in pixels of the screen, while the drawing is too small for its own labels: the largest first, and
 * none over another.
 */
export function paintNames(
  context: CanvasRenderingContext2D,
  nodes: readonly DrawnNode[],
  placeOf: (node: DrawnNode) => { readonly x: number; readonly y: number; readonly radius: number } | null,
  palette: Palette,
  scale: number,
): void {
  if (scale * LABEL.size >= LABEL.least) return;
  context.font = `600 ${DEFAULTS.nameSize}px ${palette.sans}`;
  context.textAlign = 'center';
  context.textBaseline = 'top';
  context.lineJoin = 'round';
  context.lineWidth = 4;
  context.strokeStyle = translucent(palette.ground, 0.85);
  context.fillStyle = palette.text;
  const { width, height } = { width: context.canvas.clientWidth, height: context.canvas.clientHeight };
  const taken: { left: number; right: number; top: number; bottom: number }[] = [];
  for (const node of nodes) {
    if (taken.length >= DEFAULTS.names) return;
    const place = placeOf(node);
    if (place === null) continue;
    const name = shownLine(node.label, 28);
    const half = context.measureText(name).width / 2 + DEFAULTS.nameGap;
    const top = place.y + place.radius + 1;
    const box = {
      left: place.x - half,
      right: place.x + half,
      top,
      bottom: top + DEFAULTS.nameSize + DEFAULTS.nameGap,
    };
    const isOut = box.left < 0 || box.right > width || box.top < 0 || box.bottom > height;
    const isTaken = taken.some(
      (other) =>
        box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom,
    );
    if (isOut || isTaken) continue;
    taken.push(box);
    context.strokeText(name, place.x, top);
    context.fillText(name, place.x, top);
  }
}

/**
 * The order in which nodes get their names: the largest of every group, then the second of every group, and so on. The
 * size shows how central a node is.
 */
export function byImportance(nodes: readonly DrawnNode[]): DrawnNode[] {
  const sorted = nodes.toSorted((a, b) => b.size - a.size || (a.id < b.id ? -1 : 1));
  const places = new Map<DrawnNode, number>();
  for (const group of Map.groupBy(sorted, ({ community }) => community).values())
    for (const [place, node] of group.entries()) places.set(node, place);
  return sorted.sort((a, b) => places.get(a)! - places.get(b)!);
}
