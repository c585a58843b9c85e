import { LIGHT_OUTLINE } from '../../../shared/edge-style.ts';
import type { Theme } from '../../theme.ts';

/** What is drawn on a canvas cannot name the theme's colours, so they are read off once per theme. */
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
  /** Around pale edges; null where the ground is dark. */
  readonly outline: string | null;
}

const HUES = 8;

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

/** `rgb(1, 2, 3)`, thinned. */
export function translucent(colour: string, alpha: number): string {
  return colour.replace(/^rgb\((.+)\)$/, `rgba($1, ${alpha})`);
}
