import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml } from './render-page.ts';

/** The plots of measured tables, drawn from these, so that they never say something else. */
export function benchmarkPlots(root: string): Readonly<Record<string, string>> {
  const read = (name: string) => readFileSync(join(root, 'docs', name), 'utf8');
  const tokens = tableOf(read('tokens.md'), '| way |');
  const curve = tableOf(read('evaluation.md'), '| runs | livemcp');
  const peers = tableOf(read('compare.md'), '|  | how |');
  const growth = tableOf(read('growth.md'), '|  | 1,000 | 10,000 | 100,000 | 1,000,000 |');
  const mining = tableOf(read('procedures.md'), '| runs | us per run |');
  const mined = ['us per run', 'heap, MB'].map((name) => ({ name, values: columnOf(mining, name) }));
  return {
    'docs/images/plot-mining.svg': lines(
      'Cost of mining one more run, by number of runs before it',
      mining.rows.map(([runs]) => runs!.replace(',000', 'k')),
      mined,
      { from: 0, to: 200 * Math.ceil(Math.max(...mined.flatMap(({ values }) => values)) / 200) },
    ),
    'docs/images/plot-tokens.svg': bars(
      'Tokens that a model reads per job',
      rowsOf(tokens, 'way', 'tokens in'),
      'PML, learned routine',
    ),
    'docs/images/plot-peers.svg': bars(
      'Bytes of tools/list, five servers with 21 tools each',
      rowsOf(peers, '', 'tools/list bytes').filter(({ label }) => /^(?:PML \d|mcp-hub|executor)/.test(label)),
      'PML',
    ),
    'docs/images/plot-learning.svg': lines(
      'Mean reciprocal rank of the right tool, by number of past runs',
      curve.rows.map(([runs]) => runs!),
      ['ultratool', 'toollink', 'traject', 'toole'].map((name) => ({ name, values: columnOf(curve, name) })),
      { from: 0.6, to: 1 },
    ),
    'docs/images/plot-growth.svg': lines(
      'Milliseconds (median), by number of stored runs',
      growth.head.slice(1, 5),
      ['search p50, ms', 'suggest p50, ms'].map((name) => ({
        name: name.replace(' p50, ms', ''),
        values: growth.rows
          .find(([label]) => label === name)!
          .slice(1, 5)
          .map(amount),
      })),
      { from: 0, to: 100 },
    ),
  };
}

interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The first table whose head begins like this. */
function tableOf(markdown: string, head: string): Table {
  const lines = markdown.split('\n');
  const at = lines.findIndex((line) => line.startsWith(head));
  if (at < 0) throw new Error(`There is no table that begins with "${head}"`);
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const end = lines.findIndex((line, i) => i > at && !line.startsWith('|'));
  return { head: cells(lines[at]!), rows: lines.slice(at + 2, end).map(cells) };
}

function rowsOf({ head, rows }: Table, label: string, column: string): Bar[] {
  const [from, at] = [head.indexOf(label), head.indexOf(column)];
  return rows.map((row) => ({ label: row[from]!, value: amount(row[at]!) }));
}

/** Numbers of one column, down to its last row. */
function columnOf({ head, rows }: Table, name: string): number[] {
  return rows.map((row) => amount(row[head.indexOf(name)]!));
}

/** `1,234 ms`, `.853, +.053 [.040, .067]` */
function amount(cell: string): number {
  return Number(/^[\d,]*\.?\d+/.exec(cell.replaceAll(/(?<=\d),(?=\d{3})/g, ''))?.[0] ?? Number.NaN);
}

interface Bar {
  readonly label: string;
  readonly value: number;
}

const COLOURS = ['#0f766e', '#b45309', '#6d28d9', '#0b62a8'];

function bars(title: string, rows: readonly Bar[], ours: string): string {
  const [left, width, step] = [190, 420, 34];
  const most = Math.max(...rows.map(({ value }) => value));
  const drawn = rows.map(({ label, value }, i) => {
    const y = 44 + i * step;
    const long = Math.max(2, (width * value) / most);
    const colour = label.startsWith(ours) ? COLOURS[0] : '#9aa5b1';
    return `<text x="${left - 10}" y="${y + 16}" text-anchor="end">${escapeHtml(label)}</text><rect x="${left}" y="${y}" width="${long.toFixed(1)}" height="22" rx="3" fill="${colour}"/><text x="${(left + long + 8).toFixed(1)}" y="${y + 16}">${value.toLocaleString('en-US')}</text>`;
  });
  return picture(title, left + width + 90, 54 + rows.length * step, drawn);
}

function lines(
  title: string,
  labels: readonly string[],
  series: readonly { readonly name: string; readonly values: readonly number[] }[],
  range: { readonly from: number; readonly to: number },
): string {
  const [left, top, width, height] = [50, 44, 520, 200];
  const x = (i: number) => left + (width * i) / (labels.length - 1);
  const y = (value: number) => top + (height * (range.to - value)) / (range.to - range.from);
  const grid = [0, 1, 2, 3, 4].map((i) => {
    const value = range.from + ((range.to - range.from) * i) / 4;
    return `<line x1="${left}" x2="${left + width}" y1="${y(value)}" y2="${y(value)}" stroke="#d5dae1"/><text x="${left - 8}" y="${y(value) + 4}" text-anchor="end">${Number(value.toFixed(2))}</text>`;
  });
  const axis = labels.map(
    (label, i) =>
      `<text x="${x(i)}" y="${top + height + 20}" text-anchor="middle">${escapeHtml(label)}</text>`,
  );
  const heights = labelHeights(series.map(({ values }) => y(values.at(-1)!)));
  const drawn = series.map(({ name, values }, s) => {
    const colour = COLOURS[s]!;
    const points = values.flatMap((value, i) =>
      Number.isNaN(value) ? [] : [[x(i).toFixed(1), y(value).toFixed(1)]],
    );
    const dots = points
      .map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`)
      .join('');
    const path = points.map((point) => point.join(',')).join(' ');
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}<text x="${left + width + 12}" y="${(heights[s]! + 4).toFixed(1)}" fill="${colour}">${escapeHtml(name)}</text>`;
  });
  return picture(title, left + width + 110, top + height + 36, [...grid, ...axis, ...drawn]);
}

/** Heights of the labels at the ends of the lines: below each other, far enough apart to be read. */
function labelHeights(ends: readonly number[]): number[] {
  const heights = [...ends];
  const order = ends.map((_, i) => i).toSorted((a, b) => ends[a]! - ends[b]!);
  for (const [place, i] of order.entries()) {
    const above = heights[order[place - 1] ?? -1];
    if (above !== undefined) heights[i] = Math.max(heights[i]!, above + 15);
  }
  return heights;
}

/** On white, so that it reads in both themes. */
function picture(title: string, width: number, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" font-family="system-ui, sans-serif" font-size="13" fill="#263140" role="img" aria-label="${escapeHtml(title)}">
<rect width="${width}" height="${height}" rx="8" fill="#ffffff"/>
<text x="16" y="26" font-weight="600" font-size="15">${escapeHtml(title)}</text>
${parts.join('\n')}
</svg>
`;
}
