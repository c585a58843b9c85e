/** Compressed sparse rows: row `u` holds entries `offsets[u]` to `offsets[u + 1] - 1`, by ascending column. */
export interface Csr {
  readonly rows: number;
  /** [rows + 1] */
  readonly offsets: Uint32Array;
  /** [entries] */
  readonly columns: Uint32Array;
  /** [entries], greater than 0 */
  readonly values: Float64Array;
  /** [entries] Which of the triples it was made from. */
  readonly origins: Uint32Array;
}

export interface Triples {
  readonly rows: Uint32Array;
  readonly columns: Uint32Array;
  readonly values: Float64Array;
}

/**
 * Of triples with the same row and column the one with the greatest value stays, of equals the first.
 * Two counting sorts (by column, then stably by row): linear in rows and triples.
 */
export function compressRows(size: number, triples: Triples): Csr {
  const byColumn = countingSort(size, triples.columns, identity(triples.columns.length));
  const order = countingSort(size, triples.rows, byColumn);
  const offsets = new Uint32Array(size + 1);
  const columns = new Uint32Array(order.length);
  const values = new Float64Array(order.length);
  const origins = new Uint32Array(order.length);
  let entries = 0;
  let row = -1;
  for (const triple of order) {
    const [nextRow, column, value] = [
      triples.rows[triple]!,
      triples.columns[triple]!,
      triples.values[triple]!,
    ];
    if (nextRow === row && columns[entries - 1] === column) {
      if (value <= values[entries - 1]!) continue;
      entries--;
    } else {
      while (row < nextRow) offsets[++row] = entries;
    }
    columns[entries] = column;
    values[entries] = value;
    origins[entries] = triple;
    entries++;
  }
  while (row < size) offsets[++row] = entries;
  return {
    rows: size,
    offsets,
    columns: columns.slice(0, entries),
    values: values.slice(0, entries),
    origins: origins.slice(0, entries),
  };
}

/** Rows become columns. */
export function transpose(matrix: Csr): Csr {
  const rows = new Uint32Array(matrix.columns.length);
  for (let row = 0; row < matrix.rows; row++) rows.fill(row, matrix.offsets[row], matrix.offsets[row + 1]);
  const order = countingSort(matrix.rows, matrix.columns, identity(rows.length));
  const offsets = new Uint32Array(matrix.rows + 1);
  for (const column of matrix.columns) offsets[column + 1]!++;
  for (let row = 0; row < matrix.rows; row++) offsets[row + 1]! += offsets[row]!;
  return {
    rows: matrix.rows,
    offsets,
    columns: order.map((entry) => rows[entry]!),
    values: Float64Array.from(order, (entry) => matrix.values[entry]!),
    origins: order.map((entry) => matrix.origins[entry]!),
  };
}

function identity(length: number): Uint32Array {
  const order = new Uint32Array(length);
  for (let i = 0; i < length; i++) order[i] = i;
  return order;
}

/** `order` stably sorted by `keys[…]`, which are below `size`. */
function countingSort(size: number, keys: Uint32Array, order: Uint32Array): Uint32Array {
  const next = new Uint32Array(size + 1);
  for (const key of keys) next[key + 1]!++;
  for (let key = 0; key < size; key++) next[key + 1]! += next[key]!;
  const sorted = new Uint32Array(order.length);
  for (const item of order) sorted[next[keys[item]!]!++] = item;
  return sorted;
}
