import type { HistoryView, PlacePair } from './plan-history.ts';

const DEFAULTS = {
  /** How sharply runs are told apart by how much of the set they share, and by intent. */
  sharpSet: 6,
  sharpIntent: 12,
  /** The same once more, by so much. */
  sharper: 4,
};

/** A candidate that may speak for one like it, or itself with weight 1. */
export interface Like {
  readonly place: number;
  readonly weight: number;
}

/**
 * Shares of edges and orders among past runs, each weighted by the set it shares and by its intent, more
 * and less sharply; and the edges of the one run that is most alike in both.
 */
export function nearRuns(places: readonly number[], cosines: ArrayLike<number>, view: HistoryView) {
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
export function likePairs(like: readonly (readonly Like[])[], view: HistoryView) {
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
