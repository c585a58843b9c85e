import type { Candidates, IntentForms } from '../../learning/ranker/candidates.ts';
import { dot, rowOf } from '../../numeric/matrices.ts';
import { words } from '../../retrieval/words.ts';
import type { HistoryView, PlacePair } from './plan-history.ts';

const DEFAULTS = {
  /** Runs a share is smoothed with. */
  smoothing: 1,
  /** Candidates that may speak for one like them, and how alike they must be. */
  like: 6,
  leastLike: 0.32,
  sharpLike: 6.8,
  /** How sharply a clause is told from the others. */
  sharpClause: 15,
  /** How sharply runs are told apart by how much of the set they share, and by intent. */
  sharpSet: 6,
  sharpIntent: 12,
  /** The same once more, by so much. */
  sharper: 4,
};

export const EDGE_FEATURES = [
  'edge_share',
  'edge_back_share',
  'edge_lead',
  'before_lead',
  'together',
  'follows',
  'precedes',
  'near_edge',
  'near_edge_back',
  'near_before',
  'near_weight',
  'nearest_edge',
  'nearest_edge_back',
  'nearest_alike',
  'sharp_edge',
  'sharp_edge_back',
  'between',
  'by_way_of',
  'best_from',
  'best_to',
  'near_best_from',
  'near_best_to',
  'like_edge',
  'like_edge_back',
  'like_before',
  'like_weight',
  'mentioned_before',
  'likeness',
  'words_shared',
  'inputs_met',
  'inputs_met_back',
  'fit_from',
  'fit_to',
  'logit_lead',
  'chance_from',
  'chance_to',
  'position_lead',
  'is_source_from',
  'is_sink_from',
  'is_source_to',
  'is_sink_to',
  'out_from',
  'in_to',
  'used_from',
  'used_to',
  'size',
  'order_of_near',
] as const;

export const EDGE_WIDTH = EDGE_FEATURES.length;

type Row = Record<(typeof EDGE_FEATURES)[number], number>;

/** The name and arguments of a tool. */
export interface ToolWords {
  readonly name: readonly string[];
  readonly parameters: readonly string[];
}

/** What edges are told by, besides past runs. */
export interface EdgeTexts {
  readonly candidates: Candidates;
  /** By place. */
  readonly words: readonly ToolWords[];
  /** Those most like each, itself included, with how alike they are. */
  like(place: number): readonly Like[];
}

/** A set of candidates to be ordered. */
export interface ChosenSet {
  readonly tools: readonly { readonly place: number; readonly chance: number }[];
  /** The ranker's, of all candidates. */
  readonly logits: ArrayLike<number>;
}

export function createEdgeTexts(candidates: Candidates, words: readonly ToolWords[]): EdgeTexts {
  const known = new Map<number, { place: number; weight: number }[]>();
  return {
    candidates,
    words,
    like(place) {
      const cached = known.get(place);
      if (cached) return cached;
      const cosines = candidates.cosines(rowOf(candidates.vectors, place));
      const found = [...cosines.keys()]
        .filter((other) => other === place || cosines[other]! >= DEFAULTS.leastLike)
        .sort((a, b) => (b === place ? 1 : 0) - (a === place ? 1 : 0) || cosines[b]! - cosines[a]!)
        .slice(0, DEFAULTS.like)
        .map((other) => ({
          place: other,
          weight: other === place ? 1 : Math.exp(DEFAULTS.sharpLike * (cosines[other]! - 1)),
        }));
      known.set(place, found);
      return found;
    },
  };
}

/** [n x n x EDGE_WIDTH]: what speaks for an edge from the first to the second, given the whole set. */
export function edgeFeatures(
  query: IntentForms,
  { tools, logits }: ChosenSet,
  texts: EdgeTexts,
  cosines: ArrayLike<number>,
  view: HistoryView,
): Float32Array {
  const places = tools.map(({ place }) => place);
  const n = places.length;
  const { smoothing } = DEFAULTS;
  const { candidates } = texts;
  const square = () => new Float64Array(n * n);
  const share = square();
  const follows = square();
  const precedes = square();
  const earlier = square();
  const lead = square();
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      if (i === j) continue;
      const [a, b] = [places[i]!, places[j]!];
      const both = view.pair('orderedBoth', a, b);
      const at = i * n + j;
      if (both > 0) {
        const edges = view.pair('edges', a, b);
        share[at] = edges / (both + smoothing);
        follows[at] = edges / (view.sum('ordered', a) + smoothing);
        precedes[at] = edges / (view.sum('ordered', b) + smoothing);
        const before = view.pair('before', a, b);
        lead[at] = (2 * before - both) / (both + smoothing);
      }
      earlier[at] = 0.5 + lead[at]! / 2;
    }
  }
  const near = nearRuns(places, cosines, view);
  const like = likePairs(
    places.map((place) => texts.like(place)),
    view,
  );
  const mention = mentions(query, places, candidates);
  const vectors = places.map((place) => rowOf(candidates.vectors, place));
  const fits = vectors.map((vector) => dot(vector, query.intent));
  const own = places.map((place) => texts.words[place]!);
  const names = own.map(({ name }) => new Set(name));
  const sums = places.map((place) => {
    const ordered = view.sum('ordered', place);
    const rate = (of: Parameters<HistoryView['sum']>[0]) =>
      (view.sum(of, place) + 0.5 * smoothing) / (ordered + smoothing);
    return {
      used: Math.log1p(ordered),
      source: rate('sources'),
      sink: rate('sinks'),
      position: rate('positions'),
      out: rate('edgesOut'),
      into: rate('edgesIn'),
    };
  });
  const bestOther = (matrix: Float64Array, of: (k: number) => number, not: number) => {
    let best = 0;
    for (let k = 0; k < n; k++) if (k !== not) best = Math.max(best, matrix[of(k)]!);
    return best;
  };
  const rows = new Float32Array(n * n * EDGE_WIDTH);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      if (i === j) continue;
      const at = i * n + j;
      const back = j * n + i;
      let [between, byWay] = [0, 0];
      for (let k = 0; k < n; k++) {
        if (k === i || k === j) continue;
        between += earlier[i * n + k]! * earlier[k * n + j]!;
        byWay = Math.max(byWay, Math.min(share[i * n + k]!, share[k * n + j]!));
      }
      const [a, b] = [places[i]!, places[j]!];
      const row: Row = {
        edge_share: share[at]!,
        edge_back_share: share[back]!,
        edge_lead: share[at]! - share[back]!,
        before_lead: lead[at]!,
        together: Math.log1p(view.pair('orderedBoth', a, b)),
        follows: follows[at]!,
        precedes: precedes[at]!,
        near_edge: near.edges[at]!,
        near_edge_back: near.edges[back]!,
        near_before: near.before[at]! - near.before[back]!,
        near_weight: Math.log(1e-3 + near.weights[at]!),
        nearest_edge: near.nearest[at]!,
        nearest_edge_back: near.nearest[back]!,
        nearest_alike: near.alike,
        sharp_edge: near.sharp[at]!,
        sharp_edge_back: near.sharp[back]!,
        between,
        by_way_of: byWay,
        best_from: share[at]! - bestOther(share, (k) => i * n + k, j),
        best_to: share[at]! - bestOther(share, (k) => k * n + j, i),
        near_best_from: near.edges[at]! - bestOther(near.edges, (k) => i * n + k, j),
        near_best_to: near.edges[at]! - bestOther(near.edges, (k) => k * n + j, i),
        like_edge: like.edges[at]!,
        like_edge_back: like.edges[back]!,
        like_before: like.before[at]! - like.before[back]!,
        like_weight: Math.log(1e-3 + like.weights[at]!),
        mentioned_before: mention[j]! - mention[i]!,
        likeness: dot(vectors[i]!, vectors[j]!),
        words_shared: overlap(names[i]!, own[j]!.name),
        inputs_met: overlap(names[i]!, own[j]!.parameters),
        inputs_met_back: overlap(names[j]!, own[i]!.parameters),
        fit_from: fits[i]!,
        fit_to: fits[j]!,
        logit_lead: logits[b]! - logits[a]!,
        chance_from: tools[i]!.chance,
        chance_to: tools[j]!.chance,
        position_lead: sums[j]!.position - sums[i]!.position,
        is_source_from: sums[i]!.source,
        is_sink_from: sums[i]!.sink,
        is_source_to: sums[j]!.source,
        is_sink_to: sums[j]!.sink,
        out_from: sums[i]!.out,
        in_to: sums[j]!.into,
        used_from: sums[i]!.used,
        used_to: sums[j]!.used,
        size: n,
        order_of_near: near.ordered,
      };
      const start = at * EDGE_WIDTH;
      for (const [k, name] of EDGE_FEATURES.entries()) rows[start + k] = row[name];
    }
  }
  return rows;
}

/** Where in the intent each is spoken of, from 0 to 1. */
function mentions(query: IntentForms, places: readonly number[], candidates: Candidates): number[] {
  const { clauses } = query;
  return places.map((place) => {
    if (clauses.length < 2) return 0.5;
    const vector = rowOf(candidates.vectors, place);
    const fits = clauses.map((clause) => dot(clause, vector));
    const most = Math.max(...fits);
    let [sum, total] = [0, 0];
    for (const [i, fit] of fits.entries()) {
      const weight = Math.exp(DEFAULTS.sharpClause * (fit - most));
      sum += weight * (i / (clauses.length - 1));
      total += weight;
    }
    return sum / total;
  });
}

export function toolWordsOf(tool: { readonly name: string; readonly inputSchema: unknown }): ToolWords {
  const { properties } = (tool.inputSchema ?? {}) as { properties?: unknown };
  const parameters = Object.keys(properties ?? {}).join(' ');
  return { name: words(tool.name), parameters: words(parameters.replaceAll('_', ' ')) };
}

function overlap(words: ReadonlySet<string>, others: readonly string[]): number {
  if (words.size === 0 || others.length === 0) return 0;
  return others.filter((word) => words.has(word)).length / Math.sqrt(words.size * others.length);
}

/** A candidate that may speak for one like it, or itself with weight 1. */
export interface Like {
  readonly place: number;
  readonly weight: number;
}

/**
 * Shares of edges and orders among past runs, each weighted by the set it shares and by its intent, more
 * and less sharply; and the edges of the one run that is most alike in both.
 */
function nearRuns(places: readonly number[], cosines: ArrayLike<number>, view: HistoryView) {
  const { sharpSet, sharpIntent, sharper } = DEFAULTS;
  const { runs } = view.history;
  const n = places.length;
  const at = new Map(places.map((place, i) => [place, i]));
  const square = () => new Float64Array(n * n);
  const [edges, before, weights, sharp, sharpWeights, nearest] = [
    square(),
    square(),
    square(),
    square(),
    square(),
    square(),
  ];
  let [orderedWeight, allWeight] = [0, 0];
  let best = { run: -1, merit: Number.NEGATIVE_INFINITY };
  for (const [run, common] of sharingRuns(places, view)) {
    const { uses, edges: own } = runs[run]!;
    const likeness = sharpSet * (common / (n + uses.length - common) - 1) + sharpIntent * (cosines[run]! - 1);
    const weight = Math.exp(likeness);
    allWeight += weight;
    if (own.length === 0) continue;
    orderedWeight += weight;
    if (common < 2) continue;
    if (likeness > best.merit) best = { run, merit: likeness };
    const sharpWeight = Math.exp(sharper * likeness);
    const inside = uses.flatMap((place) => at.get(place) ?? []);
    for (const [k, i] of inside.entries()) {
      for (const j of inside.slice(k + 1)) {
        for (const pair of [i * n + j, j * n + i]) {
          weights[pair]! += weight;
          sharpWeights[pair]! += sharpWeight;
        }
        before[i * n + j]! += weight;
      }
    }
    for (const pair of pairsWithin(own, at, n)) {
      edges[pair]! += weight;
      sharp[pair]! += sharpWeight;
    }
  }
  for (let k = 0; k < n * n; k++) {
    edges[k]! /= weights[k]! + 1e-4;
    before[k]! /= weights[k]! + 1e-4;
    sharp[k]! /= sharpWeights[k]! + 1e-12;
  }
  for (const pair of pairsWithin(runs[best.run]?.edges ?? [], at, n)) nearest[pair] = 1;
  const alike = best.run < 0 ? sharpSet + sharpIntent : -best.merit;
  return {
    edges,
    before,
    weights,
    sharp,
    nearest,
    alike: -alike,
    ordered: allWeight > 0 ? orderedWeight / allWeight : 0.5,
  };
}

/** How many of the places each run used that may be seen. */
function sharingRuns(places: readonly number[], view: HistoryView): ReadonlyMap<number, number> {
  const shared = new Map<number, number>();
  for (const place of places) {
    for (const run of view.history.runsOf[place]!) {
      if (!view.isHidden(run)) shared.set(run, (shared.get(run) ?? 0) + 1);
    }
  }
  return shared;
}

/** Those of some edges whose ends are both in the set, by place in the square. */
function pairsWithin(edges: readonly PlacePair[], at: ReadonlyMap<number, number>, n: number): number[] {
  return edges.flatMap(([from, to]) => {
    const [i, j] = [at.get(from), at.get(to)];
    return i === undefined || j === undefined ? [] : [i * n + j];
  });
}

/** The same of pairs of candidates that are like these two, for those never seen together. */
function likePairs(like: readonly (readonly Like[])[], view: HistoryView) {
  const n = like.length;
  const edges = new Float64Array(n * n);
  const before = new Float64Array(n * n);
  const weights = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      if (i === j) continue;
      const at = i * n + j;
      for (const a of like[i]!) {
        for (const b of like[j]!) {
          if (a.place === b.place || (a.weight === 1 && b.weight === 1)) continue;
          const both = view.pair('orderedBoth', a.place, b.place);
          if (both === 0) continue;
          const weight = a.weight * b.weight * Math.log1p(both);
          weights[at]! += weight;
          edges[at]! += (weight * view.pair('edges', a.place, b.place)) / both;
          before[at]! += (weight * view.pair('before', a.place, b.place)) / both;
        }
      }
      const total = weights[at]! + 1e-2;
      edges[at]! /= total;
      before[at]! /= total;
    }
  }
  return { edges, before, weights };
}
