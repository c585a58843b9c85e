import { compareEdges, type EdgeType } from '../vocabulary/edge.ts';
import { kindOf, type NodeId } from '../vocabulary/ids.ts';
import { PmlError } from '../vocabulary/pml-error.ts';
import { type GraphEdge, ORDER_BEARING, weight } from './graph-edge.ts';
import type { CapabilityUse } from './hypergraph.ts';
import { IndexedHeap } from './indexed-heap.ts';
import type { GraphSnapshot } from './snapshot.ts';

/** A B-arc: `head` is reached once every node of `tail` is (AND); with an empty tail, immediately. */
export interface Hyperedge {
  readonly id: string;
  readonly tail: readonly NodeId[];
  readonly head: NodeId;
  /** Greater than 0. */
  readonly cost: number;
}

/** How the costs of a tail combine: all the work before it, or the longest wait before it. */
export type TailCost = 'sum' | 'max';

const DEFAULTS = { tailCost: 'sum' as TailCost };

export interface Hyperpath {
  readonly cost: number;
  /** Without repeats, in an order in which every tail is reached before it is needed. */
  readonly edges: readonly Hyperedge[];
}

interface Arc {
  readonly edge: Hyperedge;
  readonly tail: readonly number[];
  readonly head: number;
}

/**
 * Cheapest B-hyperpaths from some sources to every node. The cost of a source is 0; the cost of any other
 * node is the least over its arcs of arc cost + sum (or maximum) of the tail's costs. With `sum` a node
 * needed twice counts twice, because the cheapest set of arcs is NP-hard (Gallo, Longo, Pallottino & Nguyen,
 * "Directed hypergraphs and applications", 1993; Knuth, "A generalization of Dijkstra's algorithm", 1977).
 *
 * Updates only touch the nodes whose cost they change: Ramalingam & Reps, "An incremental algorithm for a
 * generalization of the shortest-path problem" (1996). `#costs` are the published costs, `#least` the costs
 * according to the arcs; nodes where the two differ are updated in order of the lesser.
 */
export class Hyperpaths {
  readonly #tailCost: TailCost;
  readonly #nodes: NodeId[] = [];
  readonly #index = new Map<NodeId, number>();
  readonly #arcs = new Map<string, Arc>();
  readonly #into: Set<Arc>[] = [];
  readonly #outOf: Set<Arc>[] = [];
  readonly #costs: number[] = [];
  readonly #least: number[] = [];
  readonly #sources: ReadonlySet<number>;
  readonly #open = new IndexedHeap(0);

  constructor(
    sources: Iterable<NodeId>,
    edges: Iterable<Hyperedge> = [],
    tailCost: TailCost = DEFAULTS.tailCost,
  ) {
    this.#tailCost = tailCost;
    this.#sources = new Set([...sources].map((node) => this.#add(node)));
    for (const source of this.#sources) this.#refresh(source);
    this.update([...edges]);
  }

  /** Adds or replaces by id, then removes; costs are up to date when it returns. */
  update(edges: readonly Hyperedge[], removedIds: readonly string[] = []): void {
    const bad = edges.find(({ cost }) => !(cost > 0 && cost < Number.POSITIVE_INFINITY));
    if (bad) {
      throw new PmlError('invalid_argument', `Hyperedge "${bad.id}" has cost ${bad.cost}`, {
        hint: 'Costs are finite and greater than 0.',
      });
    }
    const heads = new Set<number>();
    const drop = (id: string) => {
      const arc = this.#arcs.get(id);
      if (!arc) return;
      this.#arcs.delete(id);
      this.#into[arc.head]!.delete(arc);
      for (const node of arc.tail) this.#outOf[node]!.delete(arc);
      heads.add(arc.head);
    };
    for (const edge of edges) {
      drop(edge.id);
      const tail = [...new Set(edge.tail)].sort().map((node) => this.#add(node));
      const arc = { edge, tail, head: this.#add(edge.head) };
      this.#arcs.set(edge.id, arc);
      this.#into[arc.head]!.add(arc);
      for (const node of tail) this.#outOf[node]!.add(arc);
      heads.add(arc.head);
    }
    for (const id of removedIds) drop(id);
    for (const head of heads) this.#refresh(head);
    this.#mend();
  }

  /** Infinity if the node cannot be reached. */
  costOf(node: NodeId): number {
    return this.#costs[this.#index.get(node) ?? -1] ?? Number.POSITIVE_INFINITY;
  }

  /** Null if the node cannot be reached; of equally cheap arcs, the one with the first id is taken. */
  pathTo(node: NodeId): Hyperpath | null {
    const cost = this.costOf(node);
    if (cost === Number.POSITIVE_INFINITY) return null;
    const taken = new Map<number, Arc>();
    const wanted = [this.#index.get(node)!];
    for (let at = wanted.pop(); at !== undefined; at = wanted.pop()) {
      if (this.#sources.has(at) || taken.has(at)) continue;
      const arc = this.#cheapestInto(at);
      taken.set(at, arc);
      wanted.push(...arc.tail);
    }
    // Arcs have positive cost, so every head costs more than its tail, and order of cost is order of need.
    const edges = [...taken.values()]
      .sort((a, b) => this.#costs[a.head]! - this.#costs[b.head]! || (a.edge.id < b.edge.id ? -1 : 1))
      .map(({ edge }) => edge);
    return { cost, edges };
  }

  #add(node: NodeId): number {
    const known = this.#index.get(node);
    if (known !== undefined) return known;
    const index = this.#nodes.push(node) - 1;
    this.#index.set(node, index);
    this.#into.push(new Set());
    this.#outOf.push(new Set());
    this.#costs.push(Number.POSITIVE_INFINITY);
    this.#least.push(Number.POSITIVE_INFINITY);
    return index;
  }

  #mend(): void {
    while (this.#open.length > 0) {
      const node = this.#open.pop();
      if (this.#least[node]! < this.#costs[node]!) {
        this.#costs[node] = this.#least[node]!;
      } else {
        this.#costs[node] = Number.POSITIVE_INFINITY;
        this.#refresh(node);
      }
      for (const arc of this.#outOf[node]!) this.#refresh(arc.head);
    }
  }

  /** Recomputes the cost from the arcs, and notes whether the node must be updated. */
  #refresh(node: number): void {
    let least = this.#sources.has(node) ? 0 : Number.POSITIVE_INFINITY;
    for (const arc of this.#into[node]!) least = Math.min(least, this.#costThrough(arc));
    this.#least[node] = least;
    const cost = this.#costs[node]!;
    if (least === cost) this.#open.delete(node);
    else this.#open.set(node, Math.min(least, cost));
  }

  #costThrough({ edge, tail }: Arc): number {
    let before = 0;
    for (const node of tail) {
      const cost = this.#costs[node]!;
      before = this.#tailCost === 'sum' ? before + cost : Math.max(before, cost);
    }
    return edge.cost + before;
  }

  #cheapestInto(node: number): Arc {
    const cost = this.#costs[node]!;
    return [...this.#into[node]!]
      .filter((arc) => this.#costThrough(arc) === cost)
      .reduce((first, arc) => (arc.edge.id < first.edge.id ? arc : first));
  }
}

/** A capability is complete when all of its nodes are; the cost is that of an observed `contains` edge. */
const COMPLETION_COST = 1 / weight('contains', 'observed');

/**
 * The graph as B-arcs: every order-bearing pair of nodes is an arc with a single tail and cost 1 / weight,
 * every capability an arc from all of its nodes to itself. A node that follows a capability thus waits for
 * the whole capability, where runs support this (see `waitsForAll`).
 */
export function capabilityHyperedges(snapshot: GraphSnapshot, uses: readonly CapabilityUse[]): Hyperedge[] {
  const { offsets, columns, values, origins, rows } = snapshot.directed(ORDER_BEARING);
  const arcs: Hyperedge[] = [];
  for (let row = 0; row < rows; row++) {
    for (let entry = offsets[row]!; entry < offsets[row + 1]!; entry++) {
      const [tail, head] = [snapshot.nodes[row]!, snapshot.nodes[columns[entry]!]!];
      if (kindOf(tail) === 'capability' && !waitsForAll(snapshot.edges[origins[entry]!]!)) continue;
      arcs.push({ id: `${tail} -> ${head}`, tail: [tail], head, cost: 1 / values[entry]! });
    }
  }
  for (const { capability, calls } of uses) {
    const tail = [...calls.keys()].filter((node) => node !== capability);
    if (tail.length > 0) arcs.push({ id: capability, tail, head: capability, cost: COMPLETION_COST });
  }
  return arcs;
}

/**
 * Whether a node that follows the capability depends on it as a whole and not on its last tool: it took a value
 * that the capability returned, a plan said so, or it followed the capability in at least three runs.
 */
function waitsForAll({ type, source }: GraphEdge): boolean {
  return source === 'observed' || (source === 'inferred' && type !== 'sequence');
}

/** The nodes of each capability as the graph observed them, for capabilities whose code is not available. */
export function containedUses(snapshot: GraphSnapshot): CapabilityUse[] {
  const uses = new Map<NodeId, Map<NodeId, number>>();
  const contained = snapshot.edges.filter(
    ({ type, from, observedCount }) =>
      type === 'contains' && kindOf(from) === 'capability' && observedCount > 0,
  );
  for (const { from, to, observedCount, invocationCount } of contained.sort(compareEdges)) {
    const calls = uses.get(from) ?? new Map<NodeId, number>();
    uses.set(from, calls.set(to, invocationCount / observedCount));
  }
  return [...uses].map(([capability, calls]) => ({ capability, calls }));
}

/** One step along an edge: if there are several between two nodes, the one with the greatest weight. */
export interface PathStep {
  readonly edge: GraphEdge;
  readonly weight: number;
  /** 1 / weight */
  readonly cost: number;
}

interface ShortestPath {
  readonly nodes: readonly NodeId[];
  /** One fewer than nodes. */
  readonly steps: readonly PathStep[];
  /** Total cost of the steps. */
  readonly cost: number;
}

/**
 * Dijkstra (1959) with cost 1 / weight, so that well-observed edges are short. Null if there is no path or a
 * node is unknown; of equally short paths, always the same one.
 */
export function shortestPath(
  snapshot: GraphSnapshot,
  from: NodeId,
  to: NodeId,
  types: readonly EdgeType[] = ORDER_BEARING,
): ShortestPath | null {
  const [source, target] = [snapshot.indexOf(from), snapshot.indexOf(to)];
  if (source === undefined || target === undefined) return null;
  const { offsets, columns, values, origins, rows } = snapshot.directed(types);
  const costs = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  const previous = new Int32Array(rows);
  const via = new Int32Array(rows);
  const open = new IndexedHeap(rows);
  costs[source] = 0;
  open.set(source, 0);
  while (open.length > 0) {
    const node = open.pop();
    if (node === target) break;
    for (let entry = offsets[node]!; entry < offsets[node + 1]!; entry++) {
      const next = columns[entry]!;
      const cost = costs[node]! + 1 / values[entry]!;
      if (cost >= costs[next]!) continue;
      costs[next] = cost;
      previous[next] = node;
      via[next] = entry;
      open.set(next, cost);
    }
  }
  if (costs[target] === Number.POSITIVE_INFINITY) return null;

  const nodes = [to];
  const steps: PathStep[] = [];
  for (let node = target; node !== source; node = previous[node]!) {
    const weight = values[via[node]!]!;
    steps.push({ edge: snapshot.edges[origins[via[node]!]!]!, weight, cost: 1 / weight });
    nodes.push(snapshot.nodes[previous[node]!]!);
  }
  return { nodes: nodes.reverse(), steps: steps.reverse(), cost: costs[target]! };
}
