import type { Floats } from './matrices.ts';

export interface Scored {
  readonly row: number;
  readonly score: number;
}

/**
 * The k best of a stream of scored rows: a binary heap with the worst kept row at its root, so a row
 * that does not make it costs one comparison. Of equal scores the lower rank is the better;
 * NaN is worse than anything.
 */
export class TopK {
  readonly #k: number;
  readonly #rows: number[] = [];
  readonly #scores: number[] = [];
  readonly #ranks: number[] = [];

  constructor(k: number) {
    this.#k = k;
  }

  offer(row: number, score: number, rank: number = row): void {
    const value = Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score;
    const size = this.#rows.length;
    if (size < this.#k) {
      this.#place(size, row, value, rank);
      this.#siftUp(size);
    } else if (size > 0 && this.#isBetter(value, rank, 0)) {
      this.#place(0, row, value, rank);
      this.#siftDown(0);
    }
  }

  /** Best first. */
  sorted(): Scored[] {
    const order = this.#rows.map((_, i) => i);
    order.sort((i, j) => this.#scores[j]! - this.#scores[i]! || this.#ranks[i]! - this.#ranks[j]!);
    return order.map((i) => ({ row: this.#rows[i]!, score: this.#scores[i]! }));
  }

  #place(i: number, row: number, score: number, rank: number): void {
    this.#rows[i] = row;
    this.#scores[i] = score;
    this.#ranks[i] = rank;
  }

  #isBetter(score: number, rank: number, than: number): boolean {
    const other = this.#scores[than]!;
    return score > other || (score === other && rank < this.#ranks[than]!);
  }

  #isWorse(i: number, j: number): boolean {
    return this.#isBetter(this.#scores[j]!, this.#ranks[j]!, i);
  }

  #siftUp(start: number): void {
    for (let i = start; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (!this.#isWorse(i, parent)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  #siftDown(start: number): void {
    const size = this.#rows.length;
    for (let i = start; ; ) {
      const left = 2 * i + 1;
      if (left >= size) return;
      const right = left + 1;
      const worst = right < size && this.#isWorse(right, left) ? right : left;
      if (!this.#isWorse(worst, i)) return;
      this.#swap(i, worst);
      i = worst;
    }
  }

  #swap(i: number, j: number): void {
    const [row, score, rank] = [this.#rows[i]!, this.#scores[i]!, this.#ranks[i]!];
    this.#place(i, this.#rows[j]!, this.#scores[j]!, this.#ranks[j]!);
    this.#place(j, row, score, rank);
  }
}

/**
 * Places of the best by the logits so far, best first: what costs much is asked of them alone. In an untrained
 * model those are the best of search.
 */
export function shortlist(logits: Floats, most: number): number[] {
  const best = new TopK(most);
  for (let place = 0; place < logits.length; place++) best.offer(place, logits[place]!);
  return best.sorted().map(({ row }) => row);
}
