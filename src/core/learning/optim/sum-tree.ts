/**
 * Non-negative numbers and their sums, as a complete binary tree in one array: root at 1, the children of
 * node i at 2i and 2i + 1, the numbers themselves in the last row. Setting one and finding where a running
 * sum passes a mark both take log2(size) steps. A node is always the sum of its children, never changed by
 * a difference, so rounding errors do not pile up.
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

  /** The first index up to which, itself included, the numbers add up to more than `mark`, in [0, total). */
  find(mark: number): number {
    let left = mark;
    let node = 1;
    while (node < this.#leaves) {
      node *= 2;
      const here = this.#nodes[node]!;
      // Rounding may leave a mark at the very end: an empty branch is not entered.
      if (left < here || this.#nodes[node + 1] === 0) continue;
      left -= here;
      node++;
    }
    return node - this.#leaves;
  }
}
