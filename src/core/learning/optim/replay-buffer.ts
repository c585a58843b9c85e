import type { Random } from '../../numeric/random.ts';
import { PmlError } from '../../vocabulary/pml-error.ts';

const DEFAULTS = {
  capacity: 50_000,
  /** Influence of the priority: 0 none, 1 proportional. */
  alpha: 0.6,
  /** Added to every |TD error|, so that every item can be drawn again. */
  epsilon: 1e-3,
  /** How far the bias of prioritized sampling is corrected, at the first and the last step. */
  firstBeta: 0.4,
  lastBeta: 1,
};

export interface ReplayOptions {
  readonly random: Random;
  readonly capacity?: number;
  readonly alpha?: number;
  readonly epsilon?: number;
}

/** The drawn items. All lists have one entry per draw; an item may be drawn more than once. */
export interface ReplayBatch<Item> {
  readonly items: readonly Item[];
  /** Indices in the buffer, with generations: an item may be replaced before its batch is learned. */
  readonly indices: readonly number[];
  readonly generations: readonly number[];
  /** Importance weights in (0, 1]. */
  readonly weights: Float64Array;
}

/**
 * Prioritized experience replay (Schaul et al., ICLR 2016), proportional variant: item i is drawn with
 * P(i) = p_i^alpha / sum_k p_k^alpha, p_i = |TD error| + epsilon, and its gradient is weighted by
 * (N P(i))^-beta, divided by the greatest weight of the batch. A new item has the greatest priority so far.
 * A full buffer keeps a uniform sample of everything ever added (reservoir sampling, algorithm R: Vitter,
 * 1985).
 */
export class ReplayBuffer<Item> {
  readonly #random: Random;
  readonly #capacity: number;
  readonly #alpha: number;
  readonly #epsilon: number;
  readonly #items: Item[] = [];
  /** Number of items that each index has held. */
  readonly #generations: number[] = [];
  readonly #tree: SumTree;
  #seen = 0;
  #greatest = 1;

  constructor(options: ReplayOptions) {
    this.#random = options.random;
    this.#capacity = options.capacity ?? DEFAULTS.capacity;
    this.#alpha = options.alpha ?? DEFAULTS.alpha;
    this.#epsilon = options.epsilon ?? DEFAULTS.epsilon;
    this.#tree = new SumTree(this.#capacity);
  }

  get size(): number {
    return this.#items.length;
  }

  /** Number of items ever added, kept or not. */
  get seen(): number {
    return this.#seen;
  }

  /** All items kept, by index. */
  get items(): readonly Item[] {
    return this.#items;
  }

  /** The item's index, or null if a full buffer skips it. */
  add(item: Item, tdError?: number): number | null {
    this.#seen++;
    const index = this.size < this.#capacity ? this.size : this.#random.int(this.#seen);
    if (index >= this.#capacity) return null;
    this.#items[index] = item;
    this.#generations[index] = (this.#generations[index] ?? 0) + 1;
    this.#prioritize(index, tdError === undefined ? this.#greatest : this.#priorityOf(tdError));
    return index;
  }

  /** Probability with which each draw takes the item at this index. */
  probability(index: number): number {
    return this.#tree.get(index) / this.#tree.total;
  }

  /** Draws with replacement, one from each of `count` equal shares of the total (stratified, as in the paper). */
  sample(count: number, beta: number): ReplayBatch<Item> {
    if (this.size === 0) return { items: [], indices: [], generations: [], weights: new Float64Array() };
    const share = this.#tree.total / count;
    const indices = Array.from({ length: count }, (_, i) =>
      this.#tree.find((i + this.#random.next()) * share),
    );
    const raw = indices.map((index) => (this.size * this.probability(index)) ** -beta);
    const greatest = raw.reduce((most, weight) => Math.max(most, weight), 0);
    return {
      items: indices.map((index) => this.#items[index]!),
      indices,
      generations: indices.map((index) => this.#generations[index]!),
      weights: Float64Array.from(raw, (weight) => weight / greatest),
    };
  }

  /** TD errors of a batch, in its order; items that have left the buffer are skipped. */
  updatePriorities(
    { indices, generations }: Pick<ReplayBatch<Item>, 'indices' | 'generations'>,
    tdErrors: ArrayLike<number>,
  ): void {
    for (const [i, index] of indices.entries()) {
      if (this.#generations[index] !== generations[i]) continue;
      this.#prioritize(index, this.#priorityOf(tdErrors[i]!));
    }
  }

  #priorityOf(tdError: number): number {
    if (!Number.isFinite(tdError)) {
      throw new PmlError('invalid_argument', `A TD error of ${tdError} cannot be a priority`, {
        hint: 'Training has diverged: go back to earlier parameters, or lower the learning rate.',
      });
    }
    return Math.abs(tdError) + this.#epsilon;
  }

  #prioritize(index: number, priority: number): void {
    this.#greatest = Math.max(this.#greatest, priority);
    this.#tree.set(index, priority ** this.#alpha);
  }
}

/** Beta at a step: rises linearly to 1 at the end, when bias would hurt most. */
export function annealedBeta(step: number, steps: number): number {
  const { firstBeta, lastBeta } = DEFAULTS;
  const progress = steps <= 1 ? 1 : Math.min(1, step / (steps - 1));
  return firstBeta + progress * (lastBeta - firstBeta);
}

/**
 * Non-negative numbers and their sums, as a complete binary tree in one array: root at 1, the children of
 * node i at 2i and 2i + 1, the numbers themselves in the last row. Setting a number and finding where the
 * cumulative sum passes a mark both take log2(size) steps. A node is always recomputed as the sum of its
 * children, so that rounding errors do not accumulate.
 */
export class SumTree {
  readonly #nodes: Float64Array;
  readonly #leaves: number;

  constructor(size: number) {
    this.#leaves = 2 ** Math.ceil(Math.log2(Math.max(1, size)));
    this.#nodes = new Float64Array(2 * this.#leaves);
  }

  get total(): number {
    return this.#nodes[1]!;
  }

  get(index: number): number {
    return this.#nodes[this.#leaves + index]!;
  }

  set(index: number, value: number): void {
    let node = this.#leaves + index;
    this.#nodes[node] = value;
    for (node >>= 1; node >= 1; node >>= 1) {
      this.#nodes[node] = this.#nodes[2 * node]! + this.#nodes[2 * node + 1]!;
    }
  }

  /** The first index at which the cumulative sum exceeds `mark`, in [0, total). */
  find(mark: number): number {
    let left = mark;
    let node = 1;
    while (node < this.#leaves) {
      node *= 2;
      const here = this.#nodes[node]!;
      // Rounding may put the mark at the very end: do not enter an empty branch.
      if (left < here || this.#nodes[node + 1] === 0) continue;
      left -= here;
      node++;
    }
    return node - this.#leaves;
  }
}
