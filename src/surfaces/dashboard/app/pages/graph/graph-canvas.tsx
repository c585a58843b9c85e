import type { Core, ElementDefinition } from 'cytoscape';
import cytoscape from 'cytoscape';
import type { Ref } from 'preact';
import { useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { duration, plural, shownLine } from '../../format.ts';
import { currentTheme } from '../../theme.ts';
import type { Drawing, DrawnEdge, DrawnNode } from './drawing.ts';
import { fixEdges, graphStyle, type Palette, readPalette } from './graph-style.ts';
import { type Point, paintRegions, picture, type Region } from './paint-background.ts';
import { byImportance, type Crowd, crowdOf, litEdges, paintCrowd, paintNames } from './paint-crowd.ts';
import type { Place, Places } from './use-layout.ts';
import { type MarkedPath, mark, reveal, showAll, zoomBy } from './viewport.ts';

const DEFAULTS = {
  /** Nodes beyond which panning and zooming move a bitmap instead of the graph. */
  textured: 250,
  width: 20,
  /** The background moves as a picture until the view has been still for so long. */
  stillMs: 120,
};

fixEdges();

/** Actions on the drawing for other components. */
export interface CanvasHandle {
  fit(): void;
  zoomBy(factor: number): void;
  picture(): Promise<Blob>;
}

interface CanvasProps {
  readonly handle: Ref<CanvasHandle>;
  readonly drawing: Drawing;
  readonly places: Places;
  readonly regions: readonly Region[];
  readonly hueOf: (id: string) => number;
  /** The selected node. */
  readonly chosen: string | null;
  readonly path: MarkedPath | null;
  /** Changes when a different graph is drawn, which is then fitted into view. */
  readonly scene: string;
  readonly onChoose: (id: string | null) => void;
  readonly onMove: (id: string, place: Place) => void;
}

/** The drawing itself. The list beside it has the same content, for screen readers. */
export function GraphCanvas(props: CanvasProps) {
  const { drawing, regions, places, chosen, path, scene } = props;
  const host = useRef<HTMLDivElement>(null);
  const [ground, names] = [useRef<HTMLCanvasElement>(null), useRef<HTMLCanvasElement>(null)];
  const cy = useRef<Core | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const painter = useRef<Painter | null>(null);
  const [tip, setTip] = useState<{ text: string; x: number; y: number } | null>(null);
  const theme = currentTheme();

  const crowd = useMemo(() => crowdOf(drawing), [drawing]);
  const ranked = useMemo(() => byImportance(drawing.nodes), [drawing]);
  const shown = useRef<Shown>(null!);
  shown.current = { crowd, ranked, regions, isDim: chosen !== null || path !== null };

  useLayoutEffect(() => {
    const core = cytoscape({
      container: host.current,
      minZoom: 0.04,
      maxZoom: 3,
      boxSelectionEnabled: false,
      autounselectify: true,
      textureOnViewport: latest.current.drawing.nodes.length > DEFAULTS.textured,
    });
    cy.current = core;
    painter.current = createPainter(core, ground.current!, names.current!, () => shown.current);
    core.on('tap', (event) => {
      const { target } = event;
      if (target === core) latest.current.onChoose(null);
      else if (target.isNode()) latest.current.onChoose(target.id());
    });
    core.on('dragfree', 'node', ({ target }) => {
      const isLone = Boolean(target.data('isLone'));
      latest.current.onMove(target.id(), { ...target.position(), isLone });
    });
    core.on('mouseover', 'node, edge', ({ target, renderedPosition }) => {
      target.addClass('hover');
      setTip({ text: String(target.data('tip')), ...renderedPosition });
    });
    core.on('mouseout', 'node, edge', ({ target }) => {
      target.removeClass('hover');
      setTip(null);
    });
    core.on('viewport', () => setTip(null));
    return () => core.destroy();
  }, []);

  // The theme changes colours, the number of edges changes their style.
  const isMany = crowd !== null;
  useLayoutEffect(() => {
    const palette = readPalette(theme, host.current!);
    painter.current!.palette = palette;
    cy.current!.style(graphStyle(palette, isMany));
    recolour(cy.current!, palette, latest.current.hueOf);
    painter.current!.paint();
  }, [theme, isMany]);

  const lit = useMemo(
    () => (crowd ? litEdges(drawing, chosen, path) : drawing.edges),
    [drawing, crowd && chosen, crowd && path],
  );
  const nodes = useMemo(() => nodeElements(drawing), [drawing]);
  const elements = useMemo(() => [...nodes, ...edgeElements(lit)], [nodes, lit]);
  useLayoutEffect(() => {
    const { palette, paint } = painter.current!;
    update(cy.current!, elements, places, palette, latest.current.hueOf);
    paint();
  }, [elements, places]);
  useLayoutEffect(() => painter.current!.paint(), [regions]);

  useLayoutEffect(() => {
    mark(cy.current!, chosen, path);
    painter.current!.paint();
  }, [chosen, path, elements]);
  useLayoutEffect(() => showAll(cy.current!), [scene]);
  useEffect(() => reveal(cy.current!, chosen, path), [chosen, path, scene]);

  useImperativeHandle(props.handle, () => ({
    fit: () => showAll(cy.current!, true),
    zoomBy: (factor) => zoomBy(cy.current!, factor),
    picture: () => picture(cy.current!, painter.current!.palette, painter.current!.background),
  }));

  return (
    <div class="graph-canvas">
      <canvas class="graph-ground" ref={ground} />
      <div
        class="graph-host"
        ref={host}
        role="img"
        aria-label={`Graph of ${plural(drawing.nodes.length, 'node')} and ${plural(drawing.edges.length, 'edge')}; the list of nodes has the same content`}
      />
      <canvas class="graph-names" ref={names} />
      {tip && (
        <div class="graph-tip" style={{ left: `${tip.x}px`, top: `${tip.y}px` }}>
          {tip.text}
        </div>
      )}
    </div>
  );
}

/** What is painted below and above the library's own drawing. */
interface Shown {
  readonly crowd: Crowd | null;
  readonly ranked: readonly DrawnNode[];
  readonly regions: readonly Region[];
  /** Something is selected, so the rest is faint. */
  readonly isDim: boolean;
}

interface Painter {
  palette: Palette;
  paint(): void;
  /** Hulls, clusters and the edges of a crowd, in units of the drawing. */
  background(context: CanvasRenderingContext2D, scale: number): void;
}

/** A canvas below and one above the drawing, painted at most once per frame. */
function createPainter(
  core: Core,
  ground: HTMLCanvasElement,
  names: HTMLCanvasElement,
  shown: () => Shown,
): Painter {
  let isDue = false;
  let movedAt = Number.NEGATIVE_INFINITY;
  /** The background as last painted, which stands in for it while a crowd moves. */
  let still: { readonly canvas: OffscreenCanvas; readonly pan: Point; readonly zoom: number } | null = null;
  const placeOf = (id: string) => {
    const node = core.getElementById(id);
    return node.nonempty() ? node.position() : undefined;
  };
  const painter: Painter = {
    palette: readPalette(currentTheme(), core.container()!),
    paint() {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        if (!core.destroyed()) paintNow();
      });
    },
    background(context, scale) {
      const { regions, crowd, isDim } = shown();
      paintRegions(context, regions, placeOf, painter.palette, scale);
      if (crowd) paintCrowd(context, crowd, placeOf, painter.palette, { scale, isDim });
    },
  };
  function paintNow(): void {
    const [{ x, y }, zoom, ratio] = [core.pan(), core.zoom(), window.devicePixelRatio];
    const context = cleared(ground);
    if (shown().crowd && still && performance.now() - movedAt < DEFAULTS.stillMs) {
      const by = zoom / still.zoom;
      context.setTransform(by, 0, 0, by, (x - still.pan.x * by) * ratio, (y - still.pan.y * by) * ratio);
      context.drawImage(still.canvas, 0, 0);
    } else {
      context.setTransform(zoom * ratio, 0, 0, zoom * ratio, x * ratio, y * ratio);
      painter.background(context, zoom);
      still = null;
      if (shown().crowd && ground.width > 0 && ground.height > 0) {
        still = { canvas: new OffscreenCanvas(ground.width, ground.height), pan: { ...core.pan() }, zoom };
        still.canvas.getContext('2d')!.drawImage(ground, 0, 0);
      }
    }
    paintNamesNow(cleared(names), zoom, ratio);
  }
  function paintNamesNow(context: CanvasRenderingContext2D, zoom: number, ratio: number): void {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const place = ({ id, size }: DrawnNode) => {
      const node = core.getElementById(id);
      if (node.empty() || node.hasClass('dim')) return null;
      return { ...node.renderedPosition(), radius: (size / 2) * zoom };
    };
    paintNames(context, shown().ranked, place, painter.palette, zoom);
  }
  function cleared(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const [width, height, ratio] = [core.width(), core.height(), window.devicePixelRatio];
    if (canvas.width !== width * ratio) canvas.width = width * ratio;
    if (canvas.height !== height * ratio) canvas.height = height * ratio;
    const context = canvas.getContext('2d')!;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    return context;
  }
  let settling: ReturnType<typeof setTimeout> | undefined;
  core.on('viewport', () => {
    movedAt = performance.now();
    painter.paint();
    clearTimeout(settling);
    settling = setTimeout(() => painter.paint(), DEFAULTS.stillMs + 10);
  });
  core.on('resize', painter.paint);
  core.on('position', 'node', painter.paint);
  core.on('destroy', () => clearTimeout(settling));
  return painter;
}

function nodeElements({ nodes }: Drawing): ElementDefinition[] {
  return nodes.map((node) => {
    const { id, label, server, isFailed, kind, together } = node;
    const name = `${shownLine(label, 60)}${together && together.calls > 1 ? ` ×${together.calls}` : ''}`;
    const took = together && together.totalMs !== null ? `, ${duration(together.totalMs)} in all` : '';
    const tip = `${kind === 'tool' && server !== null ? `${shownLine(server, 40)}: ` : ''}${name}${took}`;
    return { group: 'nodes', data: { ...node, id, label: inLines(isFailed ? `✕ ${name}` : name), tip } };
  });
}

function edgeElements(edges: readonly DrawnEdge[]): ElementDefinition[] {
  return edges.map((edge) => {
    const { type, origin, runs, calls, weight } = edge;
    const seen = runs === 0 ? 'not seen yet' : `${plural(runs, 'run')}, ${plural(calls, 'call')}`;
    const tip = `${type}, ${origin}: ${seen}, weight ${weight.toFixed(2)}`;
    return { group: 'edges', data: { ...edge, tip } };
  });
}

/** Changes only what differs, so that nothing jumps. */
function update(
  core: Core,
  elements: readonly ElementDefinition[],
  places: Places,
  palette: Palette,
  hueOf: (id: string) => number,
): void {
  core.batch(() => {
    const wanted = new Set(elements.map(({ data }) => data.id));
    core.elements().forEach((each) => {
      if (!wanted.has(each.id())) each.remove();
    });
    const added: ElementDefinition[] = [];
    for (const element of elements) {
      const { id } = element.data;
      const place = element.data.at ?? places.get(id!);
      const present = core.getElementById(id!);
      if (element.group === 'nodes') element.data.hue = palette.hues[hueOf(id!) % palette.hues.length];
      if (present.empty()) {
        added.push({ ...element, ...(place && { position: { x: place.x, y: place.y } }) });
        continue;
      }
      present.data(element.data);
      if (place && element.group === 'nodes') present.position({ x: place.x, y: place.y });
    }
    // In one call: each separate addition costs time proportional to the graph's size.
    core.add(added);
  });
}

function recolour(core: Core, palette: Palette, hueOf: (id: string) => number): void {
  core.batch(() => {
    core.nodes().forEach((node) => {
      node.data('hue', palette.hues[hueOf(node.id()) % palette.hues.length]);
    });
  });
}

/** A long name broken into lines of similar length, only after separators. */
function inLines(name: string, width = DEFAULTS.width): string {
  const lines: string[] = [];
  let line = '';
  for (const part of name.split(/(?<=[_\-./: ])/)) {
    if (line !== '' && line.length + part.length > width) {
      lines.push(line);
      line = '';
    }
    line += part;
  }
  return [...lines, line].join('\n');
}
