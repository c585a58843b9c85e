import type { Floats, Matrix, Multiplier } from '../../numeric/matrices.ts';
import type { Random } from '../../numeric/random.ts';
import {
  createParameter,
  type Parameter,
  type RankBatch,
  type RankedCandidates,
  type RankTerm,
} from '../ranker/rank-term.ts';
import { type HyperedgeOptions, HyperedgeRound, type Listener } from './hyperedge-round.ts';
import {
  addTo,
  CandidateProjection,
  EMBEDDING_PACE,
  Projection,
  randomStart,
  stackRows,
} from './projection.ts';
import { columnsFor } from './ragged-attention.ts';

const DEFAULTS = {
  hidden: 64,
  heads: 4,
  /** Unit vectors have small products: without this factor the gates would need many steps. */
  scale: 20,
  /** Multiplier of the learning rate: many numbers for few runs. */
  pace: 0.03,
  /** Multiplier of that for the gates: they are few, and should learn before the matrices can memorise edges. */
  gatePace: 10,
};

export interface MessagePassingOptions extends HyperedgeOptions {
  readonly hidden?: number;
  /** Whether capabilities have their own projection. */
  readonly isSeparate?: boolean;
}

/**
 * Candidates receive messages from those they belong together with: V -> E -> V over the hypergraph (Feng et al.,
 * "Hypergraph Neural Networks", 2019), with a gated residual. With own states X = E W and received messages M,
 * logit = scale sum_h (q U)_h . (a_h X_h + b_h M_h) over heads. The gates a and b start at 0; U and W start equal, so
 * that products of projections start near the cosine.
 */
export class MessagePassingTerm implements RankTerm {
  readonly wantsPast = true;
  readonly parameters: readonly Parameter[];
  readonly #multiplier: Multiplier<Floats>;
  readonly #intents: Projection;
  readonly #candidates: CandidateProjection;
  readonly #round: HyperedgeRound;
  readonly #own: Gate;
  readonly #heard: Gate;
  /** From the last forward pass: for each example, the row of messages that each candidate receives, [candidates]. */
  #hears: readonly Int32Array[] = [];
  #prepared: { candidates: RankedCandidates; states: Matrix<Floats> } | undefined;

  constructor(
    multiplier: Multiplier<Floats>,
    dimension: number,
    random: Random,
    {
      hidden = DEFAULTS.hidden,
      heads = DEFAULTS.heads,
      isSeparate = false,
      pace = DEFAULTS.pace,
      aggregation = 'mean',
    }: MessagePassingOptions = {},
  ) {
    const columns = columnsFor(hidden, heads);
    const start = randomStart(dimension, columns, 1 / columns, random);
    const name = 'message_passing';
    const ofEmbedding = { pace: EMBEDDING_PACE * pace };
    this.#multiplier = multiplier;
    this.#intents = new Projection(multiplier, `${name}.intents`, start, ofEmbedding);
    this.#candidates = new CandidateProjection(multiplier, `${name}.candidates`, start, {
      isSeparate,
      ...ofEmbedding,
    });
    this.#round = new HyperedgeRound(multiplier, name, columns, random, { aggregation, heads, pace });
    this.#own = new Gate(multiplier, `${name}.own_gate`, heads, DEFAULTS.gatePace * pace);
    this.#heard = new Gate(multiplier, `${name}.heard_gate`, heads, DEFAULTS.gatePace * pace);
    this.parameters = [
      this.#intents.parameter,
      ...this.#candidates.parameters,
      ...this.#round.parameters,
      this.#own.parameter,
      this.#heard.parameter,
    ];
  }

  prepare(candidates: RankedCandidates): void {
    this.#prepared = { candidates, states: this.#project(candidates) };
  }

  forward({ examples, candidates, random }: RankBatch, logits: readonly Floats[]): void {
    const edges = examples.find((example) => example.edges)?.edges ?? [];
    const { listeners, hears } = listenersOf(
      edges,
      candidates.size,
      examples.map(({ edges, hiddenEdges }) => (edges ? (hiddenEdges ?? []) : 'all')),
    );
    this.#hears = hears;
    const intents = stackRows(
      this.#multiplier,
      examples.map(({ intent }) => intent),
      candidates.vectors.columns,
    );
    const queries = this.#intents.forward(intents);
    const isPrepared = !random && this.#prepared?.candidates === candidates;
    const states = isPrepared ? this.#prepared!.states : this.#project(candidates);
    const messages = this.#round.forward(states, edges, listeners);
    const own = this.#own.forward(queries, states);
    const heard = this.#heard.forward(queries, messages);
    for (const [i, row] of logits.entries()) {
      for (let t = 0; t < row.length; t++) {
        const message = heard.values[i * heard.columns + hears[i]![t]!]!;
        row[t]! += DEFAULTS.scale * (own.values[i * own.columns + t]! + message);
      }
    }
  }

  backward({ candidates }: RankBatch, slopes: readonly Floats[]): void {
    const own = this.#own.emptySlopes();
    const heard = this.#heard.emptySlopes();
    for (const [i, row] of slopes.entries()) {
      for (let t = 0; t < row.length; t++) {
        own.values[i * own.columns + t] = DEFAULTS.scale * row[t]!;
        heard.values[i * heard.columns + this.#hears[i]![t]!]! += DEFAULTS.scale * row[t]!;
      }
    }
    const ofOwn = this.#own.backward(own);
    const ofHeard = this.#heard.backward(heard);
    addTo(ofOwn.queries.values, ofHeard.queries.values);
    addTo(ofOwn.states.values, this.#round.backward(ofHeard.states, candidates.size).values);
    this.#intents.backward(ofOwn.queries);
    this.#candidates.backward(ofOwn.states);
  }

  /** [candidates x columns] */
  #project(candidates: RankedCandidates): Matrix<Floats> {
    return this.#candidates.forward(candidates, [...Array(candidates.size).keys()]);
  }
}

/**
 * Weighted dot products of all rows: sum_h gate_h Q_h . S_h, Q [batch x columns], S [rows x columns]. One gate per
 * head and not per column: with few runs, more gates would memorise them.
 */
class Gate {
  readonly parameter: Parameter;
  readonly #multiplier: Multiplier<Floats>;
  /** From the last forward pass. */
  #queries: Matrix<Floats> | undefined;
  #gated: Matrix<Floats> | undefined;
  #states: Matrix<Floats> | undefined;

  constructor(multiplier: Multiplier<Floats>, name: string, heads: number, pace: number) {
    this.#multiplier = multiplier;
    this.parameter = createParameter(multiplier, name, new Float32Array(heads), { pace, isHeld: true });
  }

  /** [batch x rows] */
  forward(queries: Matrix<Floats>, states: Matrix<Floats>): Matrix<Floats> {
    const gate = this.parameter.values;
    const width = queries.columns / gate.length;
    const gated = { ...queries, values: queries.values.slice() };
    for (let i = 0; i < gated.values.length; i++) {
      gated.values[i]! *= gate[Math.floor((i % queries.columns) / width)]!;
    }
    [this.#queries, this.#gated, this.#states] = [queries, gated, states];
    return this.#multiplier.timesTransposed(gated, states);
  }

  /** [batch x rows], for `backward`. */
  emptySlopes(): Matrix<Floats> {
    const [{ rows }, { rows: columns }] = [this.#queries!, this.#states!];
    return { rows, columns, values: this.#multiplier.floats(rows * columns) };
  }

  backward(slopes: Matrix<Floats>): { queries: Matrix<Floats>; states: Matrix<Floats> } {
    const gate = this.parameter;
    const queries = this.#multiplier.times(slopes, this.#states!);
    const width = queries.columns / gate.values.length;
    for (let i = 0; i < queries.values.length; i++) {
      const head = Math.floor((i % queries.columns) / width);
      gate.slopes[head]! += queries.values[i]! * this.#queries!.values[i]!;
      queries.values[i]! *= gate.values[head]!;
    }
    return { queries, states: this.#multiplier.transposedTimes(slopes, this.#gated!) };
  }
}

/**
 * Which edges each candidate listens to. All examples share one listener per candidate, except for members of
 * edges that are hidden from an example: these get another listener without the hidden edges.
 */
function listenersOf(
  edges: readonly (readonly number[])[],
  size: number,
  hidden: readonly (readonly number[] | 'all')[],
): { listeners: readonly Listener[]; hears: readonly Int32Array[] } {
  const memberships = Array.from({ length: size }, (): number[] => []);
  for (const [edge, members] of edges.entries()) for (const place of members) memberships[place]!.push(edge);
  const listeners: Listener[] = memberships.map((edges, place) => ({ place, edges }));
  const hears = hidden.map((unseen) => {
    const isHidden = new Set(unseen === 'all' ? edges.keys() : unseen);
    const rows = Int32Array.from({ length: size }, (_, place) => place);
    for (const place of new Set([...isHidden].flatMap((edge) => edges[edge]!))) {
      rows[place] = listeners.length;
      listeners.push({ place, edges: memberships[place]!.filter((edge) => !isHidden.has(edge)) });
    }
    return rows;
  });
  return { listeners, hears };
}
