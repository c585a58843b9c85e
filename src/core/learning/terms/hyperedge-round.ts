import { type Floats, type Matrix, type Multiplier, rowOf } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import { createParameter, type Parameter } from '../ranker/rank-term.ts';
import { addTo, EMBEDDING_PACE, Projection, randomStart, stackRows } from './projection.ts';
import {
  meanOfLists,
  RaggedAttention,
  type RaggedLists,
  raggedLists,
  slopesOfLists,
} from './ragged-attention.ts';

const DEFAULTS = {
  heads: 4,
  /** Sharpness of attention, per cosine. */
  sharpness: 4,
};

export interface HyperedgeOptions {
  /** How members are pooled into an edge, and edges into a message. */
  readonly aggregation?: 'mean' | 'attention';
  readonly heads?: number;
  /** Multiplier of the learning rate. */
  readonly pace?: number;
}

/** A candidate that receives messages from some edges. */
export interface Listener {
  readonly place: number;
  /** Indices in the list of edges. */
  readonly edges: readonly number[];
}

/**
 * One round of V -> E -> V: H_e = tanh(pool of X_v over v in e, times We), M_t = (pool of H_e over t's edges) Wb.
 * A pool is the mean, or attention: for an edge with one learned query, for a listener with its own state. We and Wb
 * start as the identity, so that messages are smoothed states in the same space.
 */
export class HyperedgeRound {
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #toEdges: Projection;
  readonly #toListeners: Projection;
  readonly #attention: AttentionPools | undefined;
  /** From the last forward pass: members of edges, edges of listeners, [edges x columns] after tanh. */
  #members: RaggedLists = raggedLists([]);
  #heardFrom: RaggedLists = raggedLists([]);
  #listeners: readonly Listener[] = [];
  #hyperedges: Matrix<Floats> | undefined;

  /** `columns` are a multiple of the heads. */
  constructor(
    multiplier: Multiplier<Floats>,
    name: string,
    columns: number,
    random: Random,
    { aggregation = 'mean', heads = DEFAULTS.heads, pace = 1 }: HyperedgeOptions = {},
  ) {
    // Few edges are quickly memorised.
    const square = { pace: EMBEDDING_PACE * pace, isHeld: true };
    this.#multiplier = multiplier;
    this.#toEdges = new Projection(multiplier, `${name}.to_edges`, identity(columns), square);
    this.#toListeners = new Projection(multiplier, `${name}.to_listeners`, identity(columns), square);
    if (aggregation === 'attention') {
      // A head sees a share of the columns, and so a share of the cosine.
      const sharpness = DEFAULTS.sharpness * heads;
      const start = randomStart(1, columns, 1 / columns, random).values;
      this.#attention = {
        query: createParameter(multiplier, `${name}.edge_query`, start, { pace }),
        ofEdges: new RaggedAttention(multiplier, `${name}.edge_sharpness`, heads, sharpness, pace),
        ofListeners: new RaggedAttention(multiplier, `${name}.listener_sharpness`, heads, sharpness, pace),
      };
    }
    this.parameters = [
      this.#toEdges.parameter,
      this.#toListeners.parameter,
      ...(this.#attention
        ? [this.#attention.query, this.#attention.ofEdges.sharpness, this.#attention.ofListeners.sharpness]
        : []),
    ];
  }

  /** From states [candidates x columns] to messages [listeners x columns]; zeros for a listener without edges. */
  forward(
    states: Matrix<Floats>,
    edges: readonly (readonly number[])[],
    listeners: readonly Listener[],
  ): Matrix<Floats> {
    this.#members = raggedLists(edges);
    this.#listeners = listeners;
    this.#heardFrom = raggedLists(listeners.map(({ edges }) => edges));
    const hyperedges = this.#toEdges.forward(this.#poolMembers(states));
    for (let i = 0; i < hyperedges.values.length; i++)
      hyperedges.values[i] = Math.tanh(hyperedges.values[i]!);
    this.#hyperedges = hyperedges;
    return this.#toListeners.forward(this.#poolEdges(states, hyperedges));
  }

  /** After `forward`, from slopes of the messages to slopes of the states. */
  backward(slopes: Matrix<Floats>, size: number): Matrix<Floats> {
    this.#toListeners.backward(slopes);
    const states = {
      rows: size,
      columns: slopes.columns,
      values: this.#multiplier.floats(size * slopes.columns),
    };
    const hyperedges = this.#poolEdgesBack(this.#toListeners.slopesOfInputs(slopes), states);
    const after = this.#hyperedges!.values;
    for (let i = 0; i < after.length; i++) hyperedges.values[i]! *= 1 - after[i]! ** 2;
    this.#toEdges.backward(hyperedges);
    this.#poolMembersBack(this.#toEdges.slopesOfInputs(hyperedges), states);
    return states;
  }

  #poolMembers(states: Matrix<Floats>): Matrix<Floats> {
    if (!this.#attention) return meanOfLists(this.#multiplier, states, this.#members);
    const { query, ofEdges } = this.#attention;
    const edges = this.#members.starts.length - 1;
    const queries = stackRows(this.#multiplier, new Array<Floats>(edges).fill(query.values), states.columns);
    return ofEdges.forward(queries, states, states, this.#members);
  }

  /** Adds to the slopes of the states. */
  #poolMembersBack(slopes: Matrix<Floats>, states: Matrix<Floats>): void {
    if (!this.#attention) {
      addTo(states.values, slopesOfLists(this.#multiplier, slopes, this.#members, states.rows).values);
      return;
    }
    const { query, ofEdges } = this.#attention;
    const back = ofEdges.backward(slopes);
    for (let edge = 0; edge < back.queries.rows; edge++) addTo(query.slopes, rowOf(back.queries, edge));
    addTo(states.values, back.keys.values);
    addTo(states.values, back.values.values);
  }

  #poolEdges(states: Matrix<Floats>, hyperedges: Matrix<Floats>): Matrix<Floats> {
    if (!this.#attention) return meanOfLists(this.#multiplier, hyperedges, this.#heardFrom);
    const own = this.#listeners.map(({ place }) => rowOf(states, place));
    const queries = stackRows(this.#multiplier, own, states.columns);
    return this.#attention.ofListeners.forward(queries, hyperedges, hyperedges, this.#heardFrom);
  }

  /** Returns the slopes of the edges; adds to those of the states, which are the listeners' queries. */
  #poolEdgesBack(slopes: Matrix<Floats>, states: Matrix<Floats>): Matrix<Floats> {
    if (!this.#attention) {
      return slopesOfLists(this.#multiplier, slopes, this.#heardFrom, this.#hyperedges!.rows);
    }
    const { queries, keys, values } = this.#attention.ofListeners.backward(slopes);
    for (const [row, { place }] of this.#listeners.entries()) {
      addTo(states.values, rowOf(queries, row), place * states.columns);
    }
    addTo(keys.values, values.values);
    return keys;
  }
}

interface AttentionPools {
  /** [columns] */
  readonly query: Parameter;
  readonly ofEdges: RaggedAttention;
  readonly ofListeners: RaggedAttention;
}

function identity(columns: number): Matrix<Floats> {
  const values = new Float32Array(columns * columns);
  for (let i = 0; i < columns; i++) values[i * columns + i] = 1;
  return { rows: columns, columns, values };
}
