import { stderr } from 'node:process';
import { beforeEach, onTestFailed, TestRunner } from 'vitest';

const DEFAULTS = {
  /** `npm test` runs this share of a proof, `npm run prove` all of it. */
  share: 0.1,
  seed: 20_261_115,
};

/** How many cases a long proof runs: all of them under PML_PROOFS=full, else a share, but at least one. */
export function proofRuns(full: number, share = DEFAULTS.share): number {
  if (process.env.PML_PROOFS === 'full') return full;
  return Math.max(1, Math.ceil(full * share));
}

/**
 * The seed of every random case: PML_SEED, or a fixed one. Asked for in a test or at the top of a file,
 * it is printed when that test, or one of that file, fails.
 */
export function proofSeed(): number {
  const given = process.env.PML_SEED;
  const seed = given === undefined ? DEFAULTS.seed : Number(given);
  if (!Number.isSafeInteger(seed)) throw new Error(`PML_SEED must be a whole number, not "${given}"`);
  const report = () =>
    onTestFailed(({ task }) => void stderr.write(`${task.name}: failed with PML_SEED=${seed}\n`));
  if (TestRunner.getCurrentTest()) report();
  else beforeEach(report);
  return seed;
}
