const DEFAULTS = {
  /** Characters per factor of ten. */
  columns: 24,
  lines: 4,
};

/** A named curve with its points. */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/**
 * Curves in plain text with both axes logarithmic, where a power law is a straight line with its exponent as the slope.
 * Each point is the first letter of its curve's name; at the same spot, the later curve hides the earlier.
 */
export function logLogPlot(series: readonly Series[], unit: string): string {
  const points = series.flatMap((each) => each.points);
  const [left, right] = decades(points.map(([x]) => x));
  const [bottom, top] = decades(points.map(([, y]) => y));
  const canvas = Array.from({ length: (top - bottom) * DEFAULTS.lines + 1 }, () =>
    Array<string>((right - left) * DEFAULTS.columns + 1).fill(' '),
  );
  const column = (x: number) => Math.round((Math.log10(x) - left) * DEFAULTS.columns);
  const line = (y: number) => Math.round((top - Math.log10(y)) * DEFAULTS.lines);
  for (const each of series) {
    for (const [x, y] of each.points) canvas[line(y)]![column(x)] = each.name[0]!;
  }
  const label = (i: number) =>
    i % DEFAULTS.lines === 0 ? `${power(top - i / DEFAULTS.lines)} ${unit} +` : '|';
  const margin = Math.max(...canvas.map((_, i) => label(i).length));
  const axis = Array.from({ length: right - left + 1 }, (_, i) => power(left + i).padEnd(DEFAULTS.columns));
  return [
    ...canvas.map((cells, i) => `${label(i).padStart(margin)} ${cells.join('')}`.trimEnd()),
    `${' '.repeat(margin - 1)}+${'-'.repeat(canvas[0]!.length + 1)}`,
    `${' '.repeat(margin + 1)}${axis.join('').trimEnd()}`,
    `${' '.repeat(margin + 1)}${series.map(({ name }) => `${name[0]} ${name}`).join(', ')}`,
  ].join('\n');
}

/** The powers of ten around all values. */
function decades(values: readonly number[]): [low: number, high: number] {
  return [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
}

function power(exponent: number): string {
  return exponent < 0 ? (10 ** exponent).toFixed(-exponent) : (10 ** exponent).toLocaleString('en');
}
