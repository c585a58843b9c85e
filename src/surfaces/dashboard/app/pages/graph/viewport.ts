import type { Core, NodeCollection } from 'cytoscape';

const DEFAULTS = {
  /** Around what is fitted into view, in pixels; less on narrow screens. */
  padding: 48,
  /** Nothing is enlarged more than this to fill the canvas. */
  fitZoom: 1.25,
  focusZoom: 1.1,
  moveMs: 320,
  /** Room for a label below its node, in pixels of the drawing. */
  labelWidth: 110,
  labelHeight: 36,
};

/** Nodes of a path in order, with its edges. */
export interface MarkedPath {
  readonly nodes: readonly string[];
  readonly edges: readonly string[];
}

/** What is looked at and what is next to it stays bright. */
export function mark(core: Core, chosen: string | null, path: MarkedPath | null): void {
  core.batch(() => {
    core.elements().removeClass('dim path chosen');
    const onPath = core.collection();
    for (const id of [...(path?.nodes ?? []), ...(path?.edges ?? [])]) onPath.merge(core.getElementById(id));
    onPath.addClass('path');
    const node = core.getElementById(chosen ?? '');
    node.addClass('chosen');
    const bright = onPath.nonempty() ? onPath.union(node) : node.closedNeighborhood();
    if (bright.nonempty()) core.elements().difference(bright).addClass('dim');
  });
}

/** At first what is linked, since what is not would make all the rest small; all of it when one asks. */
export function showAll(core: Core, isAnimated = false): void {
  const linked = core.nodes('[!isLone]');
  const all = isAnimated || linked.empty() ? core.nodes() : linked;
  if (all.empty()) return;
  const box = boxOf(all);
  const padding = Math.min(DEFAULTS.padding, core.width() / 20);
  const zoom = Math.min(
    DEFAULTS.fitZoom,
    (core.width() - 2 * padding) / box.w,
    (core.height() - 2 * padding) / box.h,
  );
  const pan = {
    x: core.width() / 2 - (zoom * (box.x1 + box.x2)) / 2,
    y: core.height() / 2 - (zoom * (box.y1 + box.y2)) / 2,
  };
  if (isAnimated) core.animate({ zoom, pan }, { duration: DEFAULTS.moveMs });
  else core.viewport({ zoom, pan });
}

/** Around nodes and the room for their labels, which the library would measure one by one. */
function boxOf(nodes: NodeCollection) {
  let [x1, y1, x2, y2] = [Infinity, Infinity, -Infinity, -Infinity];
  nodes.forEach((node) => {
    const { x, y } = node.position();
    const half = Number(node.data('size')) / 2;
    const side = Math.max(half, DEFAULTS.labelWidth / 2);
    x1 = Math.min(x1, x - side);
    x2 = Math.max(x2, x + side);
    y1 = Math.min(y1, y - half);
    y2 = Math.max(y2, y + half + DEFAULTS.labelHeight);
  });
  return { x1, y1, x2, y2, w: x2 - x1, h: y2 - y1 };
}

/** Brings into view what was asked for; what can be seen already stays where it is. */
export function reveal(core: Core, chosen: string | null, path: MarkedPath | null): void {
  const asked = core.collection();
  for (const id of path?.nodes ?? [chosen ?? '']) asked.merge(core.getElementById(id));
  if (asked.empty()) return;
  const { x1, y1, x2, y2 } = asked.renderedBoundingBox();
  const isSeen = x1 >= 0 && y1 >= 0 && x2 <= core.width() && y2 <= core.height() && core.zoom() > 0.5;
  if (isSeen) return;
  const isOne = asked.nodes().length === 1;
  const zoom = Math.max(core.zoom(), DEFAULTS.focusZoom);
  core.animate(
    isOne ? { center: { eles: asked }, zoom } : { fit: { eles: asked, padding: 2 * DEFAULTS.padding } },
    { duration: DEFAULTS.moveMs },
  );
}

export function zoomBy(core: Core, factor: number): void {
  core.animate(
    {
      zoom: { level: core.zoom() * factor, renderedPosition: { x: core.width() / 2, y: core.height() / 2 } },
    } as never,
    { duration: DEFAULTS.moveMs / 2 },
  );
}
