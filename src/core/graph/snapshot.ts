import { EDGE_TYPES, type EdgeType } from '../vocabulary/edge.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import type { GraphEdge } from './graph-edge.ts';

/** Nodes in order of id, and the index of each. */
export interface NodeOrder {
  readonly nodes: readonly NodeId[];
  readonly index: ReadonlyMap<NodeId, number>;
}

export function orderNodes(ids: Iterable<NodeId>): NodeOrder {
  const nodes = [...ids].sort();
  return { nodes, index: new Map(nodes.map((node, i) => [node, i])) };
}

/**
 * The graph at one moment, in typed arrays. Nodes are numbered in order of id, so that results do not
 * depend on the order in which nodes were added. `origins` of its rows are indices into `edges`.
 */
export class GraphSnapshot {
  readonly nodes: readonly NodeId[];
  /** In any order. */
  readonly edges: readonly GraphEdge[];
  /** [nodes] Sum of the runs seen on a node's edges; 0 if nothing was ever observed there. */
  readonly evidence: Float64Array;
  readonly #index: ReadonlyMap<NodeId, number>;
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  readonly #weights: Float64Array;
  /** [edges] Index into `EDGE_TYPES`. */
  readonly #types: Uint8Array;
  readonly #directed = new Map<string, Csr>();
  #undirected: Csr | undefined;

  constructor(
    { nodes, index }: NodeOrder,
    edges: readonly GraphEdge[],
    weightOf: (edge: GraphEdge) => number,
  ) {
    this.nodes = nodes;
    this.edges = edges;
    this.#index = index;
    this.#from = new Int32Array(edges.length);
    this.#to = new Int32Array(edges.length);
    this.#weights = new Float64Array(edges.length);
    this.#types = new Uint8Array(edges.length);
    this.evidence = new Float64Array(nodes.length);
    for (let i = 0; i < edges.length; i++) {
      const edge = edges[i]!;
      const [from, to] = [index.get(edge.from)!, index.get(edge.to)!];
      this.#from[i] = from;
      this.#to[i] = to;
      this.#weights[i] = weightOf(edge);
      this.#types[i] = EDGE_TYPES.indexOf(edge.type);
      this.evidence[from]! += edge.observedCount;
      this.evidence[to]! += edge.observedCount;
    }
  }

  /** Undefined for an unknown node. */
  indexOf(node: NodeId): number | undefined {
    return this.#index.get(node);
  }

  /** One row per start node of edges of these types; parallel edges count once, with the greatest weight. */
  directed(types: readonly EdgeType[] = EDGE_TYPES): Csr {
    const wanted = [...new Set(types.map((type) => EDGE_TYPES.indexOf(type)))].sort();
    const key = wanted.join();
    let rows = this.#directed.get(key);
    if (!rows) {
      rows = this.#compress(wanted);
      this.#directed.set(key, rows);
    }
    return rows;
  }

  /** Neighbours by an edge of any type and direction; the value is the greatest weight between the two. */
  undirected(): Csr {
    this.#undirected ??= compressRows(this.nodes.length, bothWays(this.directed()));
    return this.#undirected;
  }

  #compress(types: readonly number[]): Csr {
    // Type by type, so that the choice among equal edges does not depend on the order in which they came.
    const kept = new Int32Array(this.edges.length);
    let count = 0;
    for (const type of types) {
      for (let i = 0; i < kept.length; i++) if (this.#types[i] === type) kept[count++] = i;
    }
    const triples = emptyTriples(count);
    for (let i = 0; i < count; i++) {
      const edge = kept[i]!;
      triples.rows[i] = this.#from[edge]!;
      triples.columns[i] = this.#to[edge]!;
      triples.values[i] = this.#weights[edge]!;
    }
    const rows = compressRows(this.nodes.length, triples);
    for (let i = 0; i < rows.origins.length; i++) rows.origins[i] = kept[rows.origins[i]!]!;
    return rows;
  }
}

function bothWays({ rows, offsets, columns, values }: Csr): Triples {
  const count = columns.length;
  const triples = emptyTriples(2 * count);
  for (let row = 0; row < rows; row++) {
    for (let entry = offsets[row]!; entry < offsets[row + 1]!; entry++) {
      triples.rows[entry] = row;
      triples.columns[entry] = columns[entry]!;
      triples.rows[count + entry] = columns[entry]!;
      triples.columns[count + entry] = row;
    }
  }
  triples.values.set(values);
  triples.values.set(values, count);
  return triples;
}

function emptyTriples(count: number): Triples {
  return {
    rows: new Int32Array(count),
    columns: new Int32Array(count),
    values: new Float64Array(count),
  };
}

/**
 * Compressed sparse rows: row `u` holds entries `offsets[u]` to `offsets[u + 1] - 1`, by ascending column.
 * Indices are signed: V8 loads them as small integers, while unsigned ones need a conversion.
 */
export interface Csr {
  readonly rows: number;
  /** [rows + 1] */
  readonly offsets: Int32Array;
  /** [entries] */
  readonly columns: Int32Array;
  /** [entries], greater than 0 */
  readonly values: Float64Array;
  /** [entries] Index of the triple that the entry was made from. */
  readonly origins: Int32Array;
}

export interface Triples {
  readonly rows: Int32Array;
  readonly columns: Int32Array;
  readonly values: Float64Array;
}

/**
 * Of triples with the same row and column, the one with the greatest value is kept; ties go to the first.
 * Two counting sorts (by column, then stably by row): linear in rows and triples.
 */
function compressRows(size: number, triples: Triples): Csr {
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
