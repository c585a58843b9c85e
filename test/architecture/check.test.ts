import { expect, test } from 'vitest';
import { runCheck } from './check-command.ts';
import { treeOf } from './tree-of.ts';

test('[HOUSE-8] all checks run, also after one has failed, and the summary names each', async () => {
  const root = await treeOf({
    'package.json': '{ "name": "broken", "type": "module", "main": "src/main.ts" }\n',
    'tsconfig.json': '{ "compilerOptions": { "strict": true, "noEmit": true, "module": "nodenext" } }\n',
    'src/main.ts': 'export const count: number = "one";   \n',
    'src/engine/orphan.ts': "import 'zod';\nconst slow = /(a|a)*$/;\n",
    'src/engine/long.ts': 'export {};\n'.repeat(501),
  });
  const { exitCode, stdout } = runCheck('--root', root);
  expect(exitCode).toBe(1);
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/).slice(0, 2)),
  ).toEqual([
    ['FAILED', 'types'],
    ['FAILED', 'lint'],
    ['FAILED', 'exports'],
    ['FAILED', 'product'],
    ['FAILED', 'arrows'],
    ['FAILED', 'file-sizes'],
    ['ok', 'figures'],
    ['ok', 'names'],
    ['ok', 'words'],
    ['FAILED', 'regexes'],
    ['FAILED', 'spec-ids'],
  ]);
});

test('[HOUSE-8] a check that does not exist is wrong usage, answered with those that do', () => {
  expect(runCheck('--only', 'arows')).toMatchObject({
    exitCode: 2,
    stderr:
      'check: no such check: arows; there are types, lint, exports, product, arrows, operations, file-sizes, figures, names, words, regexes, spec-ids\n',
  });
});
