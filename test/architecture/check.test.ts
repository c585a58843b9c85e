import { expect, test } from 'vitest';
import { runCheck } from './check-command.ts';
import { treeOf } from './tree-of.ts';

test('[HOUSE-8] all checks run, even after one has failed, and the summary names each', async () => {
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
    ['ok', 'documents'],
    ['FAILED', 'types'],
    ['FAILED', 'lint'],
    ['FAILED', 'exports'],
    ['FAILED', 'product'],
    ['FAILED', 'arrows'],
    ['ok', 'operations'],
    ['FAILED', 'file-sizes'],
    ['ok', 'figures'],
    ['ok', 'names'],
    ['ok', 'words'],
    ['FAILED', 'regexes'],
    ['FAILED', 'spec-ids'],
  ]);
});

test('[HOUSE-8] an unknown check is wrong usage, answered with the known ones', () => {
  expect(runCheck('--only', 'arows')).toMatchObject({
    exitCode: 2,
    stderr:
      'check: no such check: arows; there are documents, types, lint, exports, product, arrows, operations, file-sizes, figures, names, words, regexes, spec-ids\n',
  });
});

test('[HOUSE-18] examples are checked as the functions that they become, and complaints have their lines', async () => {
  const root = await treeOf({
    'package.json': '{ "type": "module" }\n',
    'tsconfig.json': '{ "compilerOptions": { "noEmit": true, "types": [] }, "files": ["empty.ts"] }\n',
    'empty.ts': 'export {};\n',
    'examples/tsconfig.json':
      '{ "compilerOptions": { "strict": true, "noEmit": true, "target": "esnext", "types": [] }, "exclude": ["use.ts"] }\n',
    'examples/pml.d.ts': 'declare const mcp: { disk: { read(args: { path: string }): Promise<string> } };\n',
    'examples/good.ts': "const text = await mcp.disk.read({ path: 'a' });\nreturn text.length;\n",
    'examples/wrong.ts': '// Reads.\nconst path = 1;\nreturn await mcp.disk.read({ path });\n',
    'examples/use.ts': 'a program of another kind\n',
  });
  const { exitCode, stderr } = runCheck('--root', root, '--only', 'types');
  expect(exitCode).toBe(1);
  expect(stderr.trim().split('\n')).toEqual([
    'types:',
    expect.stringMatching(/^ {2}examples\/wrong\.ts\(3,\d+\): error TS2322: /),
  ]);
});
