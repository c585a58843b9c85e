import { defineConfig } from 'vitest/config';

/** `vitest run --mode full` is `npm run prove`: the same tests, with the long proofs in full. */
export default defineConfig(({ mode }) => ({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    env: mode === 'full' ? { PML_PROOFS: 'full' } : {},
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
}));
