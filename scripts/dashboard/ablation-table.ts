import type { Ablation, AblationCell } from '../../src/surfaces/dashboard/shared/api-types.ts';

const DIFFERENCE = /^([+-]?[\d.]+) \[([+-]?[\d.]+), ([+-]?[\d.]+)\]$/;

/** The figures of docs/ablation.md: its first table, with one variant per row and one data set per column. */
export function ablationTable(document: string): Ablation {
  const [table = ''] = /^\|.*(?:\n\|.*)*/m.exec(document) ?? [];
  const [head, , ...rows] = table
    .split('\n')
    .filter((line) => line !== '')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  if (!head || rows.length === 0) throw new Error('docs/ablation.md has no table');
  return {
    sets: head.slice(1),
    rows: rows.map(([variant = '', ...cells]) => ({ variant, cells: cells.map(cellOf) })),
  };
}

function cellOf(text: string): AblationCell {
  const [, gain, low, high] = DIFFERENCE.exec(text) ?? [];
  if (gain !== undefined) return { gain: Number(gain), ci95: [Number(low), Number(high)] };
  const value = Number(text);
  return text === '' || Number.isNaN(value) ? null : { value };
}
