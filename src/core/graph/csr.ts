/**
 * Compressed sparse rows: row `u` holds entries `offsets[u]` to `offsets[u + 1] - 1`, by ascending column.
 * Indices are signed: V8 loads them as small integers, unsigned ones it has to convert first.
 */
export interface Csr {
  readonly rows: number;
  /** [rows + 1] */
  readonly offsets: Int32Array;
  /** [entries] */
  readonly columns: Int32Array;
  /** [entries], greater than 0 */
  readonly values: Float64Array;
  /** [entries] Which of the triples it was made from. */
  readonly origins: Int32Array;
}

export interface Triples {
  readonly rows: Int32Array;
  readonly columns: Int32Array;
  readonly values: Float64Array;
}

/**
 * Of triples with the same row and column the one with the greatest value stays, of equals the first.
 * Two counting sorts (by column, then stably by row): linear in rows and triples.
 */
export function compressRows(size: number, triples: Triples): Csr {
  const byColumn = countingSort(size, triples.columns, identity(triples.columns.length));
  const order = countingSort(size, triples.rows, byColumn);
  const offsets = new Int32Array(size + 1);
  const columns = new Int32Array(order.length);
  const values = new Float64Array(order.length);
  const origins = new Int32Array(order.length);
  let entries = 0;
  let row = -1;
  for (let i = 0; i < order.length; i++) {
    const triple = order[i]!;
    const nextRow = triples.rows[triple]!;
    const column = triples.columns[triple]!;
    const value = triples.values[triple]!;
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

function identity(length: number): Int32Array {
  const order = new Int32Array(length);
  for (let i = 0; i < length; i++) order[i] = i;
  return order;
}

/** `order` stably sorted by `keys[…]`, which are below `size`. */
function countingSort(size: number, keys: Int32Array, order: Int32Array): Int32Array {
  const next = new Int32Array(size + 1);
  for (let i = 0; i < keys.length; i++) next[keys[i]! + 1]!++;
  for (let key = 0; key < size; key++) next[key + 1]! += next[key]!;
  const sorted = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    const item = order[i]!;
    sorted[next[keys[item]!]!++] = item;
  }
  return sorted;
}
