import { EDGE_TYPES, type EdgeType } from '../vocabulary/edge.ts';
import type { NodeId } from '../vocabulary/ids.ts';
import { type Csr, compressRows, transpose } from './csr.ts';
import type { GraphEdge } from './graph-edge.ts';

/** Both ways of the same directed edges; parallel ones count once, with the greatest weight. */
export interface DirectedRows {
  readonly out: Csr;
  readonly in: Csr;
}

/**
 * The graph at one moment in typed arrays. Nodes are numbered in order of id, so that what is computed
 * does not depend on the order in which they became known. `origins` of its rows lead into `edges`.
 */
export class GraphSnapshot {
  readonly nodes: readonly NodeId[];
  readonly edges: readonly GraphEdge[];
  /** [nodes] Runs seen on a node's edges, added up; 0: nothing was ever observed there. */
  readonly evidence: Float64Array;
  readonly #index: ReadonlyMap<NodeId, number>;
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  readonly #weights: Float64Array;
  readonly #directed = new Map<string, DirectedRows>();
  #undirected: Csr | undefined;

  constructor(nodes: readonly NodeId[], edges: readonly GraphEdge[], weightOf: (edge: GraphEdge) => number) {
    this.nodes = nodes;
    this.edges = edges;
    const index = new Map(nodes.map((node, i) => [node, i]));
    this.#index = index;
    this.#from = Uint32Array.from(edges, ({ from }) => index.get(from)!);
    this.#to = Uint32Array.from(edges, ({ to }) => index.get(to)!);
    this.#weights = Float64Array.from(edges, weightOf);
    this.evidence = new Float64Array(nodes.length);
    for (const [i, { observedCount }] of edges.entries()) {
      this.evidence[this.#from[i]!]! += observedCount;
      this.evidence[this.#to[i]!]! += observedCount;
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
    const kept = Uint32Array.from(this.edges.keys().filter((i) => types.has(this.edges[i]!.type)));
    const out = compressRows(this.nodes.length, {
      rows: kept.map((i) => this.#from[i]!),
      columns: kept.map((i) => this.#to[i]!),
      values: Float64Array.from(kept, (i) => this.#weights[i]!),
    });
    for (let entry = 0; entry < out.origins.length; entry++) out.origins[entry] = kept[out.origins[entry]!]!;
    return { out, in: transpose(out) };
  }
}
