import { expect, test } from 'vitest';
import { complaints, runCheck } from './check-command.ts';

const lines = (count: number) => 'export {};\n'.repeat(count);

test('[HOUSE-6] a source file of 501 lines is refused, one of 500 is not', async () => {
  const found = await complaints('file-sizes', {
    'src/engine/long.ts': lines(501),
    'src/engine/no-last-newline.ts': lines(501).trimEnd(),
    'src/engine/full.ts': lines(500),
    'test/long.test.ts': lines(501),
    'bench/long.ts': lines(501),
    'scripts/deep/long.ts': lines(501),
    'src/surfaces/dashboard/app/long.tsx': lines(501),
    'docs/long.md': lines(501),
  });
  expect(found.map((line) => line.split(';')[0])).toEqual([
    'bench/long.ts has 501 lines',
    'scripts/deep/long.ts has 501 lines',
    'src/engine/long.ts has 501 lines',
    'src/engine/no-last-newline.ts has 501 lines',
    'src/surfaces/dashboard/app/long.tsx has 501 lines',
    'test/long.test.ts has 501 lines',
  ]);
});

test('[HOUSE-6] the tree itself has no such file', () => {
  expect(runCheck('--only', 'file-sizes')).toMatchObject({ exitCode: 0, stderr: '' });
});
