import type { Core, NodeCollection } from 'cytoscape';

const DEFAULTS = {
  /** Around what is fitted into view, in pixels; less on narrow screens. */
  padding: 48,
  /** Maximum zoom when fitting. */
  fitZoom: 1.25,
  focusZoom: 1.1,
  moveMs: 320,
  /** Space for a label below its node, in pixels of the drawing. */
  labelWidth: 110,
  labelHeight: 36,
};

/** Nodes of a path in order, and its edges. */
export interface MarkedPath {
  readonly nodes: readonly string[];
  readonly edges: readonly string[];
}

/** Dims everything except the selection and its neighbours. */
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

/** At first fits linked nodes, because lone ones would make the rest small; on request, all of them. */
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

/** Bounding box of nodes and labels, which the library would measure one by one. */
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

/** Scrolls the selection into view, unless it is visible already. */
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
