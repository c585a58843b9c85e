import { logLogPlot } from '../support/log-log-plot.ts';
import type { LearnedFigures, SearchFigures, SettledFigures, StartFigures } from './measured-gateway.ts';
import { fitPowerLaw } from './power-law.ts';
import type { WrittenTeam } from './write-team.ts';

/** One size: what was written, and what a gateway on it costs. */
export interface Measured {
  readonly traces: number;
  readonly tools: number;
  readonly written: WrittenTeam;
  readonly diskBytes: number;
  readonly first: StartFigures;
  readonly again: readonly StartFigures[];
  readonly serving: SearchFigures;
  /** The first gateway that had time to learn; later ones reuse what it learned. Null if not measured. */
  readonly settled: SettledFigures | null;
  readonly learned: LearnedFigures | null;
}

/** The dimension that grows, while everything else is fixed. */
export interface Axis {
  readonly name: 'traces' | 'tools';
  readonly store: string;
  /** The fixed size of the other dimension. */
  readonly fixed: string;
  /** In order of size. */
  readonly measured: readonly Measured[];
}

interface Column {
  readonly name: string;
  readonly unit: 'ms' | 'MB' | 'traces/s' | '';
  /** Null or undefined if it was not measured. */
  readonly of: (at: Measured) => number | null | undefined;
}

const MB = 2 ** 20;

const COLUMNS: readonly Column[] = [
  { name: 'start', unit: 'ms', of: ({ first }) => first.startMs },
  { name: 'again', unit: 'ms', of: ({ again }) => median(again.map(({ startMs }) => startMs)) },
  { name: 'start, CPU', unit: 'ms', of: ({ again }) => median(again.map(({ startCpuMs }) => startCpuMs)) },
  { name: 'settled, CPU', unit: 'ms', of: ({ settled }) => settled?.settledCpuMs },
  { name: 'settled again, CPU', unit: 'ms', of: ({ learned }) => learned?.settledCpuMs },
  { name: 'search p50', unit: 'ms', of: ({ serving }) => serving.search.p50 },
  { name: 'search p95', unit: 'ms', of: ({ serving }) => serving.search.p95 },
  { name: 'search, CPU', unit: 'ms', of: ({ serving }) => serving.search.cpu },
  { name: 'suggest p50', unit: 'ms', of: ({ learned }) => learned?.suggest.p50 },
  { name: 'suggest p95', unit: 'ms', of: ({ learned }) => learned?.suggest.p95 },
  { name: 'suggest, CPU', unit: 'ms', of: ({ learned }) => learned?.suggest.cpu },
  { name: 'train step p50', unit: 'ms', of: ({ learned }) => learned?.trainStep.p50 },
  { name: 'figures p50', unit: 'ms', of: ({ serving }) => serving.stats.p50 },
  { name: 'runs of a rare tool p50', unit: 'ms', of: ({ serving }) => serving.rareRuns.p50 },
  { name: 'ingest', unit: 'traces/s', of: ({ serving }) => serving.ingest },
  { name: 'resident, search alone', unit: 'MB', of: ({ serving }) => serving.residentBytes / MB },
  { name: 'resident', unit: 'MB', of: ({ learned }) => learned && learned.residentBytes / MB },
  { name: 'peak', unit: 'MB', of: ({ learned }) => learned && learned.peakBytes / MB },
  { name: 'disk', unit: 'MB', of: ({ diskBytes }) => diskBytes / MB },
  { name: 'edges of the graph', unit: '', of: ({ written }) => written.edges },
];

/** The plotted curves, by column; one letter each. */
const PLOTTED = [
  ['Start', 'start'],
  ['search', 'search p50'],
  ['Plan suggested', 'suggest p50'],
  ['train step', 'train step p50'],
] as const;

export function asMarkdown(axis: Axis): string {
  const { measured, name, fixed, store } = axis;
  const beyond = name === 'traces' ? nextDecades(measured) : [];
  const heads = measured.map((at) => count(at[name]));
  const lines = [
    ['', ...heads, 'times as much', 'exponent', ...beyond.map((x) => `${count(x)} (estimate)`)],
    ['---', ...heads.map(() => '--:'), '--:', '--:', ...beyond.map(() => '--:')],
    ...COLUMNS.filter((column) => pointsOf(axis, column).length > 0).map((column) =>
      rowOf(axis, column, beyond),
    ),
  ];
  return [
    `### ${name === 'traces' ? 'Traces' : 'Tools'} (${fixed}, ${store})`,
    '',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    '',
    '```text',
    plotOf(axis),
    '```',
  ].join('\n');
}

function rowOf(axis: Axis, column: Column, beyond: readonly number[]): string[] {
  const points = pointsOf(axis, column);
  const law = fitPowerLaw(points);
  const [first, last] = [points[0]?.[1], points.at(-1)?.[1]];
  return [
    column.unit === '' ? column.name : `${column.name}, ${column.unit}`,
    ...axis.measured.map((at) => figure(column.of(at))),
    law && first && last ? `${(last / first).toFixed(2)}x` : '',
    law ? law.exponent.toFixed(2) : '',
    ...beyond.map((x) => figure(law?.at(x))),
  ];
}

function plotOf(axis: Axis): string {
  const series = PLOTTED.map(([name, label]) => ({
    name,
    points: pointsOf(axis, COLUMNS.find((column) => column.name === label)!),
  }));
  return logLogPlot(
    series.filter(({ points }) => points.length > 0),
    'ms',
  );
}

function pointsOf({ measured, name }: Axis, { of }: Column): [number, number][] {
  return measured.flatMap((at) => {
    const value = of(at);
    return value ? [[at[name], value]] : [];
  });
}

/** The next two powers of ten. */
function nextDecades(measured: readonly Measured[]): number[] {
  const last = measured.at(-1)?.traces ?? 1;
  return measured.length < 2 ? [] : [last * 10, last * 100];
}

function figure(value: number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (value >= 100) return count(Math.round(value));
  return value.toFixed(value >= 10 ? 0 : 1);
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
