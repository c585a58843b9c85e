const DEFAULTS = {
  /** Runs after which there is nothing more to hope for. */
  most: 120,
  confidence: 0.9,
};

export interface Sureness {
  readonly confidence: number;
  readonly support: number;
}

/** Has work done again and again until what is suggested for it is sure enough to run by itself. */
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
