import type { Core, ElementDefinition } from 'cytoscape';
import cytoscape from 'cytoscape';
import type { Ref } from 'preact';
import { useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { plural, shownLine } from '../../format.ts';
import { currentTheme } from '../../theme.ts';
import type { Drawing } from './drawing.ts';
import { fixEdges, graphStyle, type Palette, readPalette } from './graph-style.ts';
import { paintRegions, picture, type Region } from './paint-background.ts';
import type { Place, Places } from './use-layout.ts';
import { type MarkedPath, mark, reveal, showAll, zoomBy } from './viewport.ts';

const DEFAULTS = {
  /** Nodes beyond which panning and zooming move a bitmap instead of the graph. */
  textured: 250,
  /** Edges beyond which they are drawn in a simpler style. */
  manyEdges: 1_200,
  width: 20,
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
  const [host, ground] = [useRef<HTMLDivElement>(null), useRef<HTMLCanvasElement>(null)];
  const cy = useRef<Core | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const painter = useRef<Painter | null>(null);
  const [tip, setTip] = useState<{ text: string; x: number; y: number } | null>(null);
  const theme = currentTheme();

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
    painter.current = createPainter(core, ground.current!, () => latest.current);
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
  const isMany = drawing.edges.length > DEFAULTS.manyEdges;
  useLayoutEffect(() => {
    const palette = readPalette(theme, host.current!);
    painter.current!.palette = palette;
    cy.current!.style(graphStyle(palette, isMany));
    recolour(cy.current!, palette, latest.current.hueOf);
    painter.current!.paint();
  }, [theme, isMany]);

  const elements = useMemo(() => elementsOf(drawing), [drawing]);
  useLayoutEffect(() => {
    const { palette, paint } = painter.current!;
    update(cy.current!, elements, places, palette, latest.current.hueOf);
    paint();
  }, [elements, places]);
  useLayoutEffect(() => painter.current!.paint(), [regions]);

  useLayoutEffect(() => {
    mark(cy.current!, chosen, path);
  }, [chosen, path, elements]);
  useLayoutEffect(() => showAll(cy.current!), [scene]);
  useEffect(() => reveal(cy.current!, chosen, path), [chosen, path, scene]);

  useImperativeHandle(props.handle, () => ({
    fit: () => showAll(cy.current!, true),
    zoomBy: (factor) => zoomBy(cy.current!, factor),
    picture: () => picture(cy.current!, latest.current.regions, painter.current!.palette),
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
      {tip && (
        <div class="graph-tip" style={{ left: `${tip.x}px`, top: `${tip.y}px` }}>
          {tip.text}
        </div>
      )}
    </div>
  );
}

interface Painter {
  palette: Palette;
  paint(): void;
}

/** Hulls and clusters on a separate canvas below, painted at most once per frame. */
function createPainter(core: Core, canvas: HTMLCanvasElement, props: () => CanvasProps): Painter {
  let isDue = false;
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
  };
  function paintNow(): void {
    const [width, height, ratio] = [core.width(), core.height(), window.devicePixelRatio];
    if (canvas.width !== width * ratio) canvas.width = width * ratio;
    if (canvas.height !== height * ratio) canvas.height = height * ratio;
    const context = canvas.getContext('2d')!;
    const [{ x, y }, zoom] = [core.pan(), core.zoom()];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(zoom * ratio, 0, 0, zoom * ratio, x * ratio, y * ratio);
    const placeOf = (id: string) => {
      const node = core.getElementById(id);
      return node.nonempty() ? node.position() : undefined;
    };
    paintRegions(context, props().regions, placeOf, painter.palette, zoom);
  }
  core.on('viewport resize', painter.paint);
  core.on('position', 'node', painter.paint);
  return painter;
}

function elementsOf({ nodes, edges }: Drawing): ElementDefinition[] {
  return [
    ...nodes.map((node): ElementDefinition => {
      const { id, label, server, isFailed, kind } = node;
      const name = shownLine(label, 60);
      const tip = `${kind === 'tool' && server !== null ? `${shownLine(server, 40)}: ` : ''}${name}`;
      return { group: 'nodes', data: { ...node, id, label: inLines(isFailed ? `✕ ${name}` : name), tip } };
    }),
    ...edges.map((edge): ElementDefinition => {
      const { type, origin, runs, weight } = edge;
      const tip = `${type}, ${origin}: ${runs === 0 ? 'not seen yet' : plural(runs, 'run')}, weight ${weight.toFixed(2)}`;
      return { group: 'edges', data: { ...edge, tip } };
    }),
  ];
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
