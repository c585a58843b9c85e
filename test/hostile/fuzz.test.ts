import { expect, test } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { proofRuns, proofSeed } from '../proof-count.ts';
import { temporaryDir } from '../support/temporary-dir.ts';

test('[HANG-13] random and hostile bytes at every entry point leave the gateway healthy', {
  timeout: 600_000,
}, async () => {
  const dir = await temporaryDir();
  const report = await fuzz(dir, { seed: proofSeed(), bytes: proofRuns(4_000_000) });
  expect(report.problems.join('\n')).toBe('');
  expect(Object.keys(report.answers).length).toBeGreaterThan(5);
});
