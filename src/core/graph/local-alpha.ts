import type { NodeId } from '../vocabulary/ids.ts';
import type { GraphSnapshot } from './snapshot.ts';

const DEFAULTS = {
  /** How long heat flows: the mean number of steps of a unit of heat. */
  time: 1,
  /** Steps after which what is left is below 0.4 % of the heat. */
  steps: 4,
  /** Runs seen on a node's edges at which the graph is trusted half there. */
  halfTrust: 10,
  /** Where the graph is trusted fully. */
  minAlpha: 0.55,
};

/**
 * Alpha by what the graph knows around the context, instead of how large it is as a whole: heat put on
 * the context spreads along edges, and the graph is trusted as far as the places it warms were seen in
 * runs. One value per query: an alpha of its own for every candidate would make their scores incomparable.
 */
export function localAlpha(snapshot: GraphSnapshot, context: Iterable<NodeId>): number {
  const heat = diffuseHeat(snapshot, context);
  let trust = 0;
  for (const [node, warmth] of heat.entries()) {
    const runs = snapshot.evidence[node]!;
    trust += (warmth * runs) / (runs + DEFAULTS.halfTrust);
  }
  return 1 - (1 - DEFAULTS.minAlpha) * trust;
}

/**
 * Heat kernel of the random walk on weighted, undirected edges (Chung, "The heat kernel as the pagerank of
 * a graph", 2007): sum over k of e^-t t^k / k! P^k, cut after a few steps and scaled back to 1. A node
 * without neighbours keeps its heat; without a known node there is none.
 */
export function diffuseHeat(snapshot: GraphSnapshot, from: Iterable<NodeId>): Float64Array {
  const { offsets, columns, values, rows } = snapshot.undirected();
  const sources = [...new Set(from)].flatMap((node) => snapshot.indexOf(node) ?? []);
  let walk = new Float64Array(rows);
  for (const source of sources) walk[source] = 1 / sources.length;
  const heat = walk.slice();
  let [term, total] = [1, 1];
  for (let step = 1; step <= DEFAULTS.steps; step++) {
    const next = new Float64Array(rows);
    for (let node = 0; node < rows; node++) {
      if (walk[node] === 0) continue;
      const [start, end] = [offsets[node]!, offsets[node + 1]!];
      let strength = 0;
      for (let entry = start; entry < end; entry++) strength += values[entry]!;
      if (strength === 0) next[node]! += walk[node]!;
      for (let entry = start; entry < end; entry++) {
        next[columns[entry]!]! += (walk[node]! * values[entry]!) / strength;
      }
    }
    walk = next;
    term *= DEFAULTS.time / step;
    total += term;
    for (let node = 0; node < rows; node++) heat[node]! += term * walk[node]!;
  }
  return heat.map((warmth) => warmth / total);
}
