const DEFAULTS = {
  /** Gives up after this many runs. */
  most: 120,
  confidence: 0.9,
};

export interface Sureness {
  readonly confidence: number;
  readonly support: number;
}

/** Repeats work until the suggestion for it is confident enough to run by itself. */
export async function untilSure<S extends Sureness>(
  work: () => Promise<unknown>,
  suggest: () => Promise<S>,
): Promise<S> {
  let last: S | null = null;
  for (let times = 0; times < DEFAULTS.most; times++) {
    await work();
    last = await suggest();
    if (last.confidence >= DEFAULTS.confidence && last.support >= 2) return last;
  }
  throw new Error(`Not sure after ${DEFAULTS.most} runs: ${JSON.stringify(last)}`);
}
