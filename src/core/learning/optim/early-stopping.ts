import type { Floats } from '../../numeric/matrices.ts';
import type { Parameter } from '../ranker/rank-term.ts';

const DEFAULTS = {
  /** Steps between two looks. */
  every: 20,
};

/**
 * Stops a training when it no longer gets better on what it does not learn from, and goes back to where it was
 * best (Prechelt, "Early Stopping - But When?", 1998).
 */
export class EarlyStopping {
  readonly #parameters: readonly Parameter[];
  readonly #loss: () => number;
  readonly #patience: number;
  #best = Number.POSITIVE_INFINITY;
  #kept: Floats[] = [];
  #looks = 0;

  /** `loss` is that of what is not learned from; after `patience` looks without a better one, enough is enough. */
  constructor(parameters: readonly Parameter[], patience: number, loss: () => number) {
    this.#parameters = parameters;
    this.#patience = patience;
    this.#loss = loss;
  }

  /** True when it is time to stop. */
  isOver(step: number): boolean {
    if (step % DEFAULTS.every > 0) return false;
    const loss = this.#loss();
    this.#looks++;
    if (loss < this.#best) {
      this.#best = loss;
      this.#looks = 0;
      this.#kept = this.#parameters.map(({ values }) => values.slice());
    }
    return this.#looks >= this.#patience;
  }

  /** Back to the best. */
  restore(): void {
    for (const [k, values] of this.#kept.entries()) this.#parameters[k]!.values.set(values);
  }
}
