import { EDGE_TYPES, type EdgeType } from '../vocabulary/edge.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type Csr, compressRows, transpose } from './csr.ts';
import type { GraphEdge } from './graph-edge.ts';

/** Both ways of the same directed edges; parallel ones count once, with the greatest weight. */
export interface DirectedRows {
  readonly out: Csr;
  readonly in: Csr;
}

/** Nodes in order of id, and the place of each. */
export interface NodeOrder {
  readonly nodes: readonly NodeId[];
  readonly index: ReadonlyMap<NodeId, number>;
}

export function orderNodes(ids: Iterable<NodeId>): NodeOrder {
  const nodes = [...ids].sort();
  return { nodes, index: new Map(nodes.map((node, i) => [node, i])) };
}

/**
 * The graph at one moment in typed arrays. Nodes are numbered in order of id, so that what is computed
 * does not depend on the order in which they became known. `origins` of its rows lead into `edges`.
 */
export class GraphSnapshot {
  readonly nodes: readonly NodeId[];
  /** In order of type, else in any. */
  readonly edges: readonly GraphEdge[];
  /** [nodes] Runs seen on a node's edges, added up; 0: nothing was ever observed there. */
  readonly evidence: Float64Array;
  readonly #index: ReadonlyMap<NodeId, number>;
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  readonly #weights: Float64Array;
  readonly #directed = new Map<string, DirectedRows>();
  #undirected: Csr | undefined;

  constructor(
    { nodes, index }: NodeOrder,
    unordered: Iterable<GraphEdge>,
    weightOf: (edge: GraphEdge) => number,
  ) {
    // Of parallel edges with equal weights the first is told, so their order must not be that of arrival.
    const byType = Map.groupBy(unordered, ({ type }) => type);
    const edges = EDGE_TYPES.flatMap((type) => byType.get(type) ?? []);
    this.nodes = nodes;
    this.edges = edges;
    this.#index = index;
    this.#from = new Uint32Array(edges.length);
    this.#to = new Uint32Array(edges.length);
    this.#weights = new Float64Array(edges.length);
    this.evidence = new Float64Array(nodes.length);
    for (let i = 0; i < edges.length; i++) {
      const edge = edges[i]!;
      const [from, to] = [index.get(edge.from)!, index.get(edge.to)!];
      this.#from[i] = from;
      this.#to[i] = to;
      this.#weights[i] = weightOf(edge);
      this.evidence[from]! += edge.observedCount;
      this.evidence[to]! += edge.observedCount;
    }
  }

  /** Undefined when the graph does not know the node. */
  indexOf(node: NodeId): number | undefined {
    return this.#index.get(node);
  }

  /** Edges of these types. */
  directed(types: readonly EdgeType[] = EDGE_TYPES): DirectedRows {
    const key = EDGE_TYPES.filter((type) => types.includes(type)).join();
    let rows = this.#directed.get(key);
    if (!rows) {
      rows = this.#compress(new Set(types));
      this.#directed.set(key, rows);
    }
    return rows;
  }

  /** Neighbours by an edge of any type and direction; the value is the greatest weight between the two. */
  undirected(): Csr {
    if (!this.#undirected) {
      const { out } = this.directed();
      const entries = out.columns.length;
      const triples = {
        rows: new Uint32Array(2 * entries),
        columns: new Uint32Array(2 * entries),
        values: new Float64Array(2 * entries),
      };
      for (let row = 0; row < out.rows; row++) {
        for (let entry = out.offsets[row]!; entry < out.offsets[row + 1]!; entry++) {
          const column = out.columns[entry]!;
          triples.rows[entry] = row;
          triples.columns[entry] = column;
          triples.rows[entries + entry] = column;
          triples.columns[entries + entry] = row;
        }
      }
      triples.values.set(out.values);
      triples.values.set(out.values, entries);
      this.#undirected = compressRows(out.rows, triples);
    }
    return this.#undirected;
  }

  #compress(types: ReadonlySet<EdgeType>): DirectedRows {
    const kept = new Uint32Array(this.edges.length);
    let count = 0;
    for (let i = 0; i < kept.length; i++) if (types.has(this.edges[i]!.type)) kept[count++] = i;
    const triples = {
      rows: new Uint32Array(count),
      columns: new Uint32Array(count),
      values: new Float64Array(count),
    };
    for (let i = 0; i < count; i++) {
      triples.rows[i] = this.#from[kept[i]!]!;
      triples.columns[i] = this.#to[kept[i]!]!;
      triples.values[i] = this.#weights[kept[i]!]!;
    }
    const out = compressRows(this.nodes.length, triples);
    for (let entry = 0; entry < out.origins.length; entry++) out.origins[entry] = kept[out.origins[entry]!]!;
    return { out, in: transpose(out) };
  }
}
