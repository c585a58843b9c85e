const DEFAULTS = {
  /** TD errors, the newest. */
  length: 500,
};

/** How wrong predictions of success have been of late. */
export class TdErrorWindow {
  readonly #length: number;
  readonly #errors: number[] = [];
  #added = 0;

  constructor(length = DEFAULTS.length) {
    this.#length = length;
  }

  add(tdErrors: Iterable<number>): void {
    for (const tdError of tdErrors) this.#errors[this.#added++ % this.#length] = Math.abs(tdError);
  }

  /** Null before there is any. */
  get meanAbsoluteTdError(): number | null {
    if (this.#errors.length === 0) return null;
    return this.#errors.reduce((sum, error) => sum + error, 0) / this.#errors.length;
  }
}
