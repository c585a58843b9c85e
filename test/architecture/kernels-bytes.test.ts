import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { KERNELS_FILE, renderKernelsModule } from '../../scripts/build-wasm.ts';

test('[NUM-1] [PACK-2] the committed wasm module is what assembly/ compiles to ("npm run build:wasm" fixes it)', async () => {
  expect(await readFile(KERNELS_FILE, 'utf8')).toBe(await renderKernelsModule());
});
