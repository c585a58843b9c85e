import type { Floats } from '../../numeric/matrices.ts';
import type { Parameter } from '../ranker/rank-term.ts';

const DEFAULTS = {
  beta1: 0.9,
  beta2: 0.999,
  epsilon: 1e-8,
  /** Greatest norm of the gradient, over all parameters together. */
  clip: 1,
};

/** Adam (Kingma & Ba, 2015) with the gradient clipped by its norm (Pascanu et al., 2013). */
export class Adam {
  readonly #parameters: readonly Parameter[];
  readonly #decay: number;
  readonly #first: readonly Floats[];
  readonly #second: readonly Floats[];
  #steps = 0;

  /** `decay` is the strength that pulls parameters with an anchor towards it. */
  constructor(parameters: readonly Parameter[], decay: number) {
    this.#parameters = parameters;
    this.#decay = decay;
    this.#first = parameters.map(({ values }) => values.slice().fill(0));
    this.#second = parameters.map(({ values }) => values.slice().fill(0));
  }

  /** Takes one step against the slopes, and clears them. */
  step(rate: number): void {
    const { beta1, beta2, epsilon, clip } = DEFAULTS;
    this.#pull();
    const scale = Math.min(1, clip / (normOf(this.#parameters) || 1));
    this.#steps++;
    const unbias1 = 1 / (1 - beta1 ** this.#steps);
    const unbias2 = 1 / (1 - beta2 ** this.#steps);
    for (const [k, { values, slopes, pace }] of this.#parameters.entries()) {
      const first = this.#first[k]!;
      const second = this.#second[k]!;
      for (let i = 0; i < values.length; i++) {
        const slope = slopes[i]! * scale;
        first[i] = beta1 * first[i]! + (1 - beta1) * slope;
        second[i] = beta2 * second[i]! + (1 - beta2) * slope * slope;
        values[i]! -= (rate * pace * first[i]! * unbias1) / (Math.sqrt(second[i]! * unbias2) + epsilon);
      }
      slopes.fill(0);
    }
  }

  #pull(): void {
    for (const { values, slopes, anchor } of this.#parameters) {
      if (!anchor) continue;
      for (let i = 0; i < values.length; i++) slopes[i]! += this.#decay * (values[i]! - anchor[i]!);
    }
  }
}

function normOf(parameters: readonly Parameter[]): number {
  let squares = 0;
  for (const { slopes } of parameters) for (const slope of slopes) squares += slope * slope;
  return Math.sqrt(squares);
}
