/**
 * Draws the plot of docs/evaluation.md from reports of `pml eval --protocol stream --json`, one file per set and seed:
 *
 *   node scripts/plot-stream.ts REPORT.json… > docs/images/stream.svg
 */
import { readFile } from 'node:fs/promises';
import type { StreamReport, StreamWindow } from '../src/core/vocabulary/stream-report.ts';

const SIZE = { width: 210, height: 130, left: 34, top: 28, gap: 18, bottom: 44 };
/** Best and worst F1 that are drawn. */
const RANGE = { from: 0.6, to: 1 };

const LINES = [
  { name: 'plan', figure: 'plan_f1', colour: '#0f766e', dash: '' },
  { name: 'copying the most alike wording', figure: 'copying_f1', colour: '#b45309', dash: '5 3' },
  { name: 'routine found first', figure: 'routine_f1', colour: '#6d28d9', dash: '2 3' },
] as const;

type Figure = (typeof LINES)[number]['figure'];

/** Over all runs of all seeds that count in a window. */
function meanOf(windows: readonly StreamWindow[], figure: Figure): number | null {
  const counted = windows.flatMap((window) => {
    const value = window[figure];
    return value === null ? [] : [{ value, n: figure === 'routine_f1' ? window.routines : window.n }];
  });
  const all = counted.reduce((sum, { n }) => sum + n, 0);
  return all === 0 ? null : counted.reduce((sum, { value, n }) => sum + value * n, 0) / all;
}

function panel(name: string, reports: readonly StreamReport[], left: number): string {
  const { width, height, top } = SIZE;
  const starts = reports[0]!.windows.map(({ from, to }) => `${from}-${to}`);
  const x = (i: number) => left + (width * (i + 0.5)) / starts.length;
  const y = (f1: number) => top + (height * (RANGE.to - Math.max(RANGE.from, f1))) / (RANGE.to - RANGE.from);
  const grid = [0.6, 0.7, 0.8, 0.9, 1].map(
    (f1) =>
      `<line x1="${left}" x2="${left + width}" y1="${y(f1)}" y2="${y(f1)}" stroke="#cbd5e1" stroke-width=".6"/>` +
      (left === SIZE.left
        ? `<text x="${left - 6}" y="${y(f1) + 3}" text-anchor="end">${f1.toFixed(1)}</text>`
        : ''),
  );
  const lines = LINES.map(({ figure, colour, dash }) => {
    const points = starts.flatMap((_, i) => {
      const value = meanOf(
        reports.map(({ windows }) => windows[i]!),
        figure,
      );
      return value === null ? [] : [`${x(i).toFixed(1)},${y(value).toFixed(1)}`];
    });
    const dots = points.map(
      (at) => `<circle cx="${at.split(',')[0]}" cy="${at.split(',')[1]}" r="2.2" fill="${colour}"/>`,
    );
    const line = `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-dasharray="${dash}"/>`;
    return line + dots.join('');
  });
  const labels = starts.map(
    (label, i) =>
      `<text x="${x(i)}" y="${top + height + 14}" text-anchor="middle" font-size="8">${label}</text>`,
  );
  const title = `<text x="${left}" y="${top - 10}" font-weight="600">${name}</text>`;
  return [title, ...grid, ...lines, ...labels].join('\n');
}

const reports = await Promise.all(
  process.argv.slice(2).map(async (file) => JSON.parse(await readFile(file, 'utf8')) as StreamReport),
);
const sets = [...Map.groupBy(reports, ({ dataset }) => dataset)];
const total = SIZE.left + sets.length * (SIZE.width + SIZE.gap);
const bottom = SIZE.top + SIZE.height + SIZE.bottom;
const panels = sets.map(([name, of], i) => panel(name, of, SIZE.left + i * (SIZE.width + SIZE.gap)));
const legend = LINES.map(({ name, colour, dash }, i) => {
  const at = SIZE.left + i * 210;
  return (
    `<line x1="${at}" x2="${at + 22}" y1="${bottom - 12}" y2="${bottom - 12}" stroke="${colour}" stroke-width="1.6" stroke-dasharray="${dash}"/>` +
    `<text x="${at + 28}" y="${bottom - 9}">${name}</text>`
  );
});
process.stdout.write(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total} ${bottom}" font-family="system-ui, sans-serif" font-size="10" fill="#334155" role="img" aria-label="F1 by windows of runs">
<rect width="${total}" height="${bottom}" fill="#ffffff"/>
${[...panels, ...legend].join('\n')}
</svg>
`,
);
