/** A figure, or in a word why there is none; absent where the contender has no such thing. */
export type Cell = number | string | undefined;

/** Measurements of one contender; times in milliseconds. */
export interface Measured {
  readonly name: string;
  readonly version: string;
  readonly form: string;
  readonly servers: number;
  readonly startMs: number;
  readonly listBytes: number | undefined;
  readonly p50: Cell;
  readonly p99: Cell;
  /** Calls per second, 32 in flight. */
  readonly perSecond: Cell;
  readonly megabytes: number | undefined;
  /** An empty program. */
  readonly program: Cell;
  /** A program with a thousand calls. */
  readonly fromCode: Cell;
}

type Figure = Exclude<keyof Measured, 'name' | 'version' | 'form' | 'servers'>;

const COLUMNS: readonly [figure: Figure, title: string, digits: number][] = [
  ['p50', 'call p50 ms', 2],
  ['p99', 'p99 ms', 1],
  ['perSecond', 'calls/s', 0],
  ['listBytes', 'tools/list bytes', 0],
  ['startMs', 'start ms', 0],
  ['megabytes', 'memory MB', 0],
  ['program', 'empty program ms', 1],
  ['fromCode', '1,000 calls from code ms', 0],
];

const OURS = 'PML';

export function asTable(measured: readonly Measured[]): string {
  const rows = [['', 'servers', ...COLUMNS.map(([, title]) => title)], ...measured.map(cellsOf)];
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
    )
    .join('\n');
}

export function asMarkdown(measured: readonly Measured[], absent: readonly string[], made: string): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    `Measured on ${made}.`,
    '',
    line(['', 'how', 'servers', ...COLUMNS.map(([, title]) => title)]),
    line(['---', '---', ...Array<string>(COLUMNS.length + 1).fill('---:')]),
    ...measured.map((each) => {
      const [name, ...cells] = cellsOf(each);
      return line([name!, each.form, ...cells]);
    }),
    '',
    ...absent,
    '```text',
    asBars(measured),
    '```',
  ].join('\n');
}

/** Bars relative to PML, whose own bar has six characters. */
export function asBars(measured: readonly Measured[]): string {
  const ours = measured.find(({ name }) => name === OURS);
  if (!ours) return '';
  return COLUMNS.map(([figure, title]) => {
    const base = ours[figure];
    const rows = measured.flatMap((each) => {
      const value = each[figure];
      if (typeof value !== 'number' || typeof base !== 'number') return [];
      const times = value / base;
      return [
        `  ${each.name.padEnd(16)} ${'#'.repeat(Math.min(60, Math.max(1, Math.round(times * 6))))} ${times.toFixed(2)}x`,
      ];
    });
    return [`${title}, PML = 1`, ...rows].join('\n');
  }).join('\n');
}

function cellsOf(each: Measured): string[] {
  const figures = COLUMNS.map(([figure, , digits]) => {
    const value = each[figure];
    if (typeof value !== 'number') return value ?? '-';
    return value.toLocaleString('en', { maximumFractionDigits: digits });
  });
  return [`${each.name} ${each.version}`.trim(), String(each.servers), ...figures];
}
