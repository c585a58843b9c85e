import type { Core, StylesheetJson } from 'cytoscape';
import cytoscape from 'cytoscape';
import {
  EDGE_COLOURS,
  EDGE_LINES,
  EDGE_SOURCES,
  EDGE_TYPES,
  LIGHT_OUTLINE,
} from '../../../shared/vocabulary.ts';
import type { Theme } from '../../theme.ts';
import type { DrawnNode } from './drawing.ts';

/** `s2` before `s10`. */
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

/** A canvas cannot use CSS variables, so the theme's colours are read once per theme. */
export interface Palette {
  readonly ground: string;
  readonly surface: string;
  readonly text: string;
  readonly muted: string;
  readonly accent: string;
  readonly bad: string;
  readonly line: string;
  readonly sans: string;
  /** For servers, hulls and clusters, in turn. */
  readonly hues: readonly string[];
  /** Outline around pale edges; null on a dark background. */
  readonly outline: string | null;
}

/** Number of hues in `tokens.css`. */
const HUES = 8;

export const LINES = {
  /** Pixels of an edge of weight 0 and of weight 1. */
  widths: [1.4, 4.2] as const,
  dashes: [7, 4],
  /** With round ends this is a dot and a gap. */
  dots: [0.1, 5],
  /** Cheaper to draw. */
  squareDots: [2, 5],
};

/** Of nodes: its size, and the size on the screen below which it is not drawn, in pixels. */
export const LABEL = { size: 12, least: 7 };

/** Zoom below which dashes and arrows are not drawn. */
export const AFAR = 0.3;

const DIM = 0.13;

/**
 * Colour shows an edge's type, the line style its source, the width its weight; shapes show the kind of a
 * node. With many edges, those that are not in front are straight (`paint-crowd.ts`), and so are these.
 */
export function graphStyle(palette: Palette, isMany: boolean): StylesheetJson {
  const [least, most] = LINES.widths;
  return [
    {
      selector: 'node',
      style: {
        shape: 'ellipse',
        width: 'data(size)',
        height: 'data(size)',
        'background-color': palette.surface,
        'border-width': 2.5,
        'border-color': 'data(hue)',
        label: 'data(label)',
        color: palette.text,
        'font-family': palette.sans,
        'font-size': LABEL.size,
        'text-valign': 'bottom',
        'text-margin-y': 5,
        'text-wrap': 'wrap',
        'text-max-width': '150px',
        'text-outline-color': palette.ground,
        'text-outline-width': 2.5,
        'text-outline-opacity': 0.85,
        'min-zoomed-font-size': LABEL.least,
        'overlay-opacity': 0,
      },
    },
    {
      selector: 'node[kind = "capability"]',
      style: {
        shape: 'hexagon',
        'background-color': 'data(hue)',
        'border-color': palette.ground,
        'font-weight': 'bold',
      },
    },
    {
      selector: 'node[kind = "operation"]',
      style: {
        shape: 'diamond',
        'background-color': palette.ground,
        'border-color': palette.muted,
        'border-width': 1.5,
        color: palette.muted,
        'font-size': 11,
      },
    },
    {
      selector: 'node[?isLone]',
      style: { 'border-width': 1.5, color: palette.muted, 'background-color': palette.ground },
    },
    {
      selector: 'node[?isFailed]',
      style: { 'border-color': palette.bad, 'border-style': 'double', 'border-width': 6, color: palette.bad },
    },
    {
      selector: 'edge',
      style: {
        'curve-style': isMany ? 'straight' : 'bezier',
        'control-point-step-size': 26,
        width: `mapData(weight, 0, 1, ${least}, ${most})`,
        'target-arrow-shape': 'triangle',
        'arrow-scale': 0.9,
        'overlay-opacity': 0,
      },
    },
    ...EDGE_TYPES.map((type) => ({
      selector: `edge[type = "${type}"]`,
      style: {
        'line-color': EDGE_COLOURS[type],
        'target-arrow-color':
          type === 'dependency' ? (palette.outline ?? EDGE_COLOURS[type]) : EDGE_COLOURS[type],
        ...(palette.outline && { 'line-outline-width': 1, 'line-outline-color': palette.outline }),
      },
    })),
    ...EDGE_SOURCES.map((source) => ({
      selector: `edge[origin = "${source}"]`,
      style: {
        'line-style': EDGE_LINES[source],
        ...(source === 'inferred' && { 'line-dash-pattern': LINES.dashes }),
        ...(source === 'template' && { 'line-dash-pattern': LINES.dots, 'line-cap': 'round' }),
      },
    })),
    { selector: '.dim', style: { opacity: DIM } },
    // Under a translucent arrow the library first clears the background, which costs more than the arrow.
    { selector: 'edge.dim', style: { 'target-arrow-shape': 'none' } },
    { selector: 'node.dim', style: { 'text-opacity': 0.35 } },
    { selector: 'edge.path', style: { width: 6, opacity: 1, 'z-index': 9 } },
    {
      selector: 'node.path, node.chosen, node.hover',
      style: { 'border-color': palette.accent, 'border-width': 4, 'z-index': 10, 'min-zoomed-font-size': 0 },
    },
    {
      selector: 'node.chosen',
      style: {
        'underlay-color': palette.accent,
        'underlay-opacity': 0.22,
        'underlay-padding': 9,
        'underlay-shape': 'ellipse',
      },
    },
    { selector: 'edge.hover', style: { opacity: 1, 'z-index': 9, width: 5 } },
  ] as unknown as StylesheetJson;
}

interface EdgeRenderer {
  readonly cy: Core;
  drawEdgePath(edge: unknown, context: unknown, points: unknown, line: string): void;
  drawArrowheads(context: unknown, edge: unknown, opacity: unknown): void;
}

/**
 * Corrects how the library's renderer draws edges in two ways; their computed style is unchanged.
 *
 * It draws every dotted line as one pixel on and one off, which looks like a pale solid line: dots are drawn
 * as very short dashes with round ends instead. And when zoomed out, dashes and arrows are smaller than a
 * pixel but cost more than everything else, so they are omitted.
 */
export function fixEdges(): void {
  const extension = cytoscape as unknown as (type: 'renderer', name: 'canvas') => { prototype: EdgeRenderer };
  const { prototype } = extension('renderer', 'canvas');
  const { drawEdgePath, drawArrowheads } = prototype;
  prototype.drawEdgePath = function (edge, context, points, line) {
    const near = line === 'dotted' ? 'dashed' : line;
    drawEdgePath.call(this, edge, context, points, this.cy.zoom() < AFAR ? 'solid' : near);
  };
  prototype.drawArrowheads = function (context, edge, opacity) {
    if (this.cy.zoom() >= AFAR) drawArrowheads.call(this, context, edge, opacity);
  };
}

export function readPalette(theme: Theme, within: HTMLElement): Palette {
  const probe = document.createElement('i');
  within.append(probe);
  const colour = (token: string) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
    ground: colour('--ground'),
    surface: colour('--surface'),
    text: colour('--text'),
    muted: colour('--text-muted'),
    accent: colour('--accent'),
    bad: colour('--bad'),
    line: colour('--line-strong'),
    sans: getComputedStyle(within).fontFamily,
    hues: Array.from({ length: HUES }, (_, i) => colour(`--graph-hue-${i + 1}`)),
    outline: theme === 'light' ? LIGHT_OUTLINE : null,
  };
  probe.remove();
  return palette;
}

/** `rgb(1, 2, 3)` with an alpha value. */
export function translucent(colour: string, alpha: number): string {
  return colour.replace(/^rgb\((.+)\)$/, `rgba($1, ${alpha})`);
}

/** Servers take hues from the front and capabilities from the back; each keeps its own. */
export function huesOf(nodes: readonly DrawnNode[]): {
  readonly servers: readonly string[];
  readonly hueOf: (id: string) => number;
} {
  const servers = [...new Set(nodes.flatMap(({ server }) => server ?? []))].sort(inOrder);
  const ofServer = new Map(servers.map((server, i) => [server, i]));
  let capabilities = 0;
  const hues = new Map(
    nodes.map(({ id, kind, server }) => {
      if (kind === 'capability') return [id, HUES - 1 - (capabilities++ % HUES)];
      return [id, server === null ? 0 : ofServer.get(server)!];
    }),
  );
  return { servers, hueOf: (id) => hues.get(id) ?? 0 };
}
