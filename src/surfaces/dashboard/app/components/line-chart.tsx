import './moved-bars.css';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { number } from '../format.ts';

const STEPS = [1, 2, 5, 10];

const SIZE = { height: 220, left: 44, right: 12, top: 12, bottom: 28 };
const TICKS = 4;
/** Maximum number of points with a marker; a single point would be invisible without one. */
const MARKED = 12;

export interface Point {
  readonly x: number;
  readonly y: number;
  /** A confidence interval. */
  readonly low?: number;
  readonly high?: number;
}

export interface Series {
  readonly name: string;
  /** One of the chart colours of the theme. */
  readonly colour: 1 | 2 | 3 | 4;
  /** Tells series apart without colour. */
  readonly isDashed?: boolean;
  readonly points: readonly Point[];
}

/** Lines on one axis, with bands for intervals. The figures are also given as text. */
export function LineChart({
  label,
  series,
  xTitle,
  xFormat,
  format = number,
}: {
  label: string;
  series: readonly Series[];
  xTitle?: string;
  /** Formats both ends of the axis; without it they have no label. */
  xFormat?: (value: number) => string;
  format?: (value: number) => string;
}) {
  const id = useId();
  const [figure, width] = useWidth();
  const points = series.flatMap((one) => one.points);
  const [x0, x1] = range(points.map(({ x }) => x));
  const ticks = niceTicks(...range(points.flatMap(({ y, low = y, high = y }) => [y, low, high])), TICKS);
  const [y0, y1] = [ticks[0]!, ticks.at(-1)!];
  const labels = tickLabels(ticks, format);
  const across = width - SIZE.left - SIZE.right;
  const down = SIZE.height - SIZE.top - SIZE.bottom;
  const at = (x: number, y: number) => {
    const [left, top] = [(x - x0) / (x1 - x0 || 1), (y1 - y) / (y1 - y0 || 1)];
    return `${(SIZE.left + left * across).toFixed(1)},${(SIZE.top + top * down).toFixed(1)}`;
  };
  return (
    <figure class="chart" ref={figure}>
      <svg viewBox={`0 0 ${width} ${SIZE.height}`} role="img" aria-labelledby={id}>
        <title id={id}>{`${label}. ${series.map((one) => summaryOf(one, format)).join(' ')}`}</title>
        {ticks.map((value, i) => {
          const y = Number(at(x0, value).split(',')[1]);
          return (
            <g key={value}>
              <line class="chart-grid" x1={SIZE.left} x2={width - SIZE.right} y1={y} y2={y} />
              <text class="chart-tick" x={SIZE.left - 8} y={y + 4} text-anchor="end">
                {labels[i]}
              </text>
            </g>
          );
        })}
        {series.map(({ name, colour, points: own }) => {
          const banded = own.filter(({ low, high }) => low !== undefined && high !== undefined);
          const edge = [
            ...banded.map(({ x, high }) => at(x, high!)),
            ...banded.toReversed().map(({ x, low }) => at(x, low!)),
          ];
          return (
            banded.length > 1 && (
              <polygon key={name} class={`chart-band chart-${colour}`} points={edge.join(' ')} />
            )
          );
        })}
        {series.map(({ name, colour, isDashed, points: own }) => (
          <polyline
            key={name}
            class={`chart-line chart-${colour}${isDashed ? ' chart-dashed' : ''}`}
            points={own.map(({ x, y }) => at(x, y)).join(' ')}
          />
        ))}
        {series.flatMap(({ name, colour, points: own }) =>
          own.length > MARKED
            ? []
            : own.map(({ x, y }) => {
                const [cx, cy] = at(x, y).split(',');
                return (
                  <circle key={`${name} ${x}`} class={`chart-mark chart-${colour}`} cx={cx} cy={cy} r={3.5} />
                );
              }),
        )}
        {xFormat && points.length > 0 && (
          <text class="chart-tick" x={SIZE.left} y={SIZE.height - 8}>
            {xFormat(Math.min(...points.map(({ x }) => x)))}
          </text>
        )}
        {xTitle && (
          <text class="chart-tick" x={width - SIZE.right} y={SIZE.height - 8} text-anchor="end">
            {xFormat && points.length > 0
              ? `${xFormat(Math.max(...points.map(({ x }) => x)))} ${xTitle}`
              : xTitle}
          </text>
        )}
      </svg>
      <figcaption class="chart-legend">
        {series.map(({ name, colour, isDashed }) => (
          <span key={name}>
            <i class={`chart-key chart-${colour}${isDashed ? ' chart-dashed' : ''}`} />
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** As wide as displayed, so that its text has the normal size. */
function useWidth() {
  const ref = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.max(200, entry!.contentRect.width)));
    watcher.observe(ref.current!);
    return () => watcher.disconnect();
  }, []);
  return [ref, width] as const;
}

/** A line without axes, as wide as a word. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const [low, high] = range(values);
  const points = values.map((value, i) => {
    const x = (i / Math.max(1, values.length - 1)) * 96 + 2;
    return `${x.toFixed(1)},${(26 - ((value - low) / (high - low || 1)) * 22).toFixed(1)}`;
  });
  return (
    <svg class="sparkline" viewBox="0 0 100 30" role="img" aria-label={label} preserveAspectRatio="none">
      <polyline class="chart-line chart-1" points={points.join(' ')} />
    </svg>
  );
}

/** A range with a margin above and below; never empty. */
function range(values: readonly number[]): readonly [number, number] {
  const known = values.filter(Number.isFinite);
  if (known.length === 0) return [0, 1];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

function summaryOf({ name, points }: Series, format: (value: number) => string): string {
  const last = points.at(-1);
  if (!last) return `${name}: no figures.`;
  const interval =
    last.low === undefined || last.high === undefined ? '' : ` (${format(last.low)} to ${format(last.high)})`;
  return `${name}: last ${format(last.y)}${interval}.`;
}

/**
 * About `count` round values that cover a range (Heckbert, "Nice numbers for graph labels", Graphics Gems,
 * 1990).
 */
export function niceTicks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / count;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = STEPS.map((factor) => factor * magnitude).find((size) => size >= rough * (1 - 1e-9))!;
  const [first, last] = [Math.floor(low / step + 1e-9), Math.ceil(high / step - 1e-9)];
  // Counted in steps, so that rounding errors do not add up.
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Formatted with `format`; with more digits where two labels would be equal. */
export function tickLabels(ticks: readonly number[], format: (value: number) => string): string[] {
  const labels = ticks.map(format);
  if (new Set(labels).size === labels.length) return labels;
  const digits = Math.max(...ticks.map((tick) => String(tick).split('.')[1]?.length ?? 0));
  return ticks.map((tick) => tick.toFixed(digits));
}

export interface MovedRow {
  readonly name: string;
  /** In words. */
  readonly title: string;
  readonly moved: number;
}

/** Positive and negative contributions: bars to the right and left of a common line, with their figures. */
export function MovedBars({ label, rows }: { label: string; rows: readonly MovedRow[] }) {
  const greatest = Math.max(...rows.map(({ moved }) => Math.abs(moved)), Number.MIN_VALUE);
  return (
    <table class="moved" aria-label={label}>
      <tbody>
        {rows.map(({ name, title, moved }) => (
          <tr key={name}>
            <th scope="row">{title}</th>
            <td class="moved-cell" aria-hidden="true">
              <i
                class={moved < 0 ? 'moved-down' : 'moved-up'}
                style={{ width: `${(50 * Math.abs(moved)) / greatest}%` }}
              />
            </td>
            <td class="number">
              {moved < 0 ? '−' : '+'}
              {Math.abs(moved).toFixed(2)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
