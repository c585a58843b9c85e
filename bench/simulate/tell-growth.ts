import { logLogPlot } from '../support/log-log-plot.ts';
import type { GatewayFigures } from './measured-gateway.ts';
import { fitPowerLaw } from './power-law.ts';
import type { WrittenTeam } from './write-team.ts';

/** One size: what was written, and what a gateway on it costs. */
export interface Measured {
  readonly traces: number;
  readonly tools: number;
  readonly written: WrittenTeam;
  readonly diskBytes: number;
  readonly first: GatewayFigures & Required<Pick<GatewayFigures, 'work'>>;
  /** Mere starts after the first. */
  readonly again: readonly GatewayFigures[];
}

/** What grows: sizes where all else stays. */
export interface Axis {
  readonly name: 'traces' | 'tools';
  readonly fixed: string;
  /** In order of size. */
  readonly measured: readonly Measured[];
}

interface Column {
  readonly name: string;
  readonly unit: 'ms' | 'MB' | 'traces/s' | '';
  readonly of: (at: Measured) => number;
}

const MB = 2 ** 20;

const COLUMNS: readonly Column[] = [
  { name: 'start', unit: 'ms', of: ({ first }) => first.startMs },
  { name: 'again', unit: 'ms', of: ({ again }) => median(again.map(({ startMs }) => startMs)) },
  { name: 'start, CPU', unit: 'ms', of: ({ again }) => median(again.map(({ startCpuMs }) => startCpuMs)) },
  { name: 'settled, CPU', unit: 'ms', of: ({ first }) => first.work.settledCpuMs },
  { name: 'search p50', unit: 'ms', of: ({ first }) => first.work.search.p50 },
  { name: 'search p95', unit: 'ms', of: ({ first }) => first.work.search.p95 },
  { name: 'search, CPU', unit: 'ms', of: ({ first }) => first.work.search.cpu },
  { name: 'suggest p50', unit: 'ms', of: ({ first }) => first.work.suggest.p50 },
  { name: 'suggest p95', unit: 'ms', of: ({ first }) => first.work.suggest.p95 },
  { name: 'suggest, CPU', unit: 'ms', of: ({ first }) => first.work.suggest.cpu },
  { name: 'train step p50', unit: 'ms', of: ({ first }) => first.work.trainStep.p50 },
  { name: 'ingest', unit: 'traces/s', of: ({ first }) => first.work.ingest },
  { name: 'resident', unit: 'MB', of: ({ first }) => first.residentBytes / MB },
  { name: 'peak', unit: 'MB', of: ({ first }) => first.peakBytes / MB },
  { name: 'disk', unit: 'MB', of: ({ diskBytes }) => diskBytes / MB },
  { name: 'edges of the graph', unit: '', of: ({ written }) => written.edges },
];

/** Curves that are plotted, by column; a letter each. */
const PLOTTED = [
  ['Start', 'start'],
  ['search', 'search p50'],
  ['Plan suggested', 'suggest p50'],
  ['train step', 'train step p50'],
] as const;

export function asMarkdown(axis: Axis): string {
  const { measured, name, fixed } = axis;
  const beyond = name === 'traces' ? nextDecades(measured) : [];
  const heads = measured.map((at) => count(at[name]));
  const lines = [
    ['', ...heads, 'times as much', 'exponent', ...beyond.map((x) => `${count(x)} (estimate)`)],
    ['---', ...heads.map(() => '--:'), '--:', '--:', ...beyond.map(() => '--:')],
    ...COLUMNS.map((column) => rowOf(axis, column, beyond)),
  ];
  return [
    `### ${name === 'traces' ? 'Traces' : 'Tools'} (${fixed})`,
    '',
    ...lines.map((cells) => `| ${cells.join(' | ')} |`),
    '',
    '```',
    plotOf(axis),
    '```',
  ].join('\n');
}

function rowOf(
  { measured, name }: Axis,
  { name: label, unit, of }: Column,
  beyond: readonly number[],
): string[] {
  const values = measured.map(of);
  const law = fitPowerLaw(measured.map((at) => [at[name], of(at)]));
  return [
    unit === '' ? label : `${label}, ${unit}`,
    ...values.map(figure),
    `${(values.at(-1)! / values[0]!).toFixed(2)}x`,
    law ? law.exponent.toFixed(2) : '',
    ...beyond.map((x) => (law ? figure(law.at(x)) : '')),
  ];
}

function plotOf({ measured, name }: Axis): string {
  const series = PLOTTED.map(([letter, label]) => {
    const { of } = COLUMNS.find((column) => column.name === label)!;
    return { name: letter, points: measured.map((at) => [at[name], of(at)] as const) };
  });
  return logLogPlot(series, 'ms');
}

/** The next two powers of ten. */
function nextDecades(measured: readonly Measured[]): number[] {
  const last = measured.at(-1)?.traces ?? 1;
  return measured.length < 2 ? [] : [last * 10, last * 100];
}

function figure(value: number): string {
  if (!Number.isFinite(value)) return '';
  if (value >= 100) return count(Math.round(value));
  return value.toFixed(value >= 10 ? 0 : 1);
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
