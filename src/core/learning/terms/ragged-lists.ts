import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';

/** Lists of row numbers, end to end: list i is items[starts[i]] to items[starts[i + 1]], the end left out. */
export interface RaggedLists {
  /** [lists + 1] */
  readonly starts: Int32Array;
  readonly items: Int32Array;
}

export function raggedLists(lists: readonly (readonly number[])[]): RaggedLists {
  const starts = new Int32Array(lists.length + 1);
  for (const [i, list] of lists.entries()) starts[i + 1] = starts[i]! + list.length;
  const items = new Int32Array(starts[lists.length]!);
  for (const [i, list] of lists.entries()) items.set(list, starts[i]!);
  return { starts, items };
}

/** The mean of each list's rows, [lists x columns]; zeros for a list of nothing. */
export function meanOfLists(
  multiplier: Multiplier<Floats>,
  { columns, values }: Matrix<Floats>,
  { starts, items }: RaggedLists,
): Matrix<Floats> {
  const rows = starts.length - 1;
  const means = multiplier.floats(rows * columns);
  for (let list = 0; list < rows; list++) {
    const share = 1 / (starts[list + 1]! - starts[list]!);
    for (let item = starts[list]!; item < starts[list + 1]!; item++) {
      const at = items[item]! * columns;
      for (let c = 0; c < columns; c++) means[list * columns + c]! += share * values[at + c]!;
    }
  }
  return { rows, columns, values: means };
}

/** From slopes of the means, [lists x columns], to those of the rows they are made of, [rows x columns]. */
export function slopesOfLists(
  multiplier: Multiplier<Floats>,
  { columns, values }: Matrix<Floats>,
  { starts, items }: RaggedLists,
  rows: number,
): Matrix<Floats> {
  const slopes = multiplier.floats(rows * columns);
  for (let list = 0; list < starts.length - 1; list++) {
    const share = 1 / (starts[list + 1]! - starts[list]!);
    for (let item = starts[list]!; item < starts[list + 1]!; item++) {
      const at = items[item]! * columns;
      for (let c = 0; c < columns; c++) slopes[at + c]! += share * values[list * columns + c]!;
    }
  }
  return { rows, columns, values: slopes };
}
