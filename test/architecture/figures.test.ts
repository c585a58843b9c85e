import { expect, test } from 'vitest';
import { complaints, runCheck } from './check-command.ts';

const files = (count: number, path: (number: number) => string, text = 'export {};\n') =>
  Object.fromEntries(Array.from({ length: count }, (_, number) => [path(number), text]));

test('[HOUSE-15] 701 source files are refused, 700 are not; tests do not count', async () => {
  const full = files(700, (number) => `src/core/graph/file-${number}.ts`);
  expect(await complaints('figures', { ...full, 'src/core/graph/one.test.ts': '' })).toEqual([]);
  expect(await complaints('figures', { ...full, 'src/main.ts': '' })).toEqual([
    'src has 701, at most 700, files: merge what belongs together',
  ]);
});

test('[HOUSE-15] half of the source files have at most 110 lines; tests do not count', async () => {
  const lines = (count: number) => 'export {};\n'.repeat(count);
  const short = files(2, (number) => `src/core/graph/short-${number}.ts`, lines(110));
  const long = files(2, (number) => `src/core/graph/long-${number}.ts`, lines(130));
  expect(await complaints('figures', { ...short, 'src/main.ts': lines(400) })).toEqual([]);
  expect(await complaints('figures', { ...short, ...long })).toEqual([
    'src has 120, at most 110, lines in its median file: move second ideas of longer files elsewhere, or write less',
  ]);
  expect(await complaints('figures', { ...short, ...long, 'src/main.test.ts': lines(1) })).toHaveLength(1);
  expect(await complaints('figures', { ...short, 'src/main.ts': lines(400), 'src/client.ts': '' })).toEqual(
    [],
  );
});

test('[HOUSE-15] short files with a single importer in their folder are fragments; 30 are allowed', async () => {
  const fragments = (count: number, text?: string) => ({
    ...files(count, (number) => `src/core/graph/part-${number}.ts`, text),
    'src/core/graph/whole.ts': Array.from(
      { length: count },
      (_, number) => `import './part-${number}.ts';\n`,
    ).join(''),
  });
  expect(await complaints('figures', fragments(30))).toEqual([]);
  expect(await complaints('figures', fragments(31))).toEqual([
    expect.stringMatching(/^src has 31, at most 30, fragments: move some .*src\/core\/graph\/part-30\.ts/),
  ]);
  expect(await complaints('figures', fragments(31, 'export {};\n'.repeat(61)))).toEqual([]);
  const shared = { ...fragments(31), 'src/core/graph/other.ts': "import './part-0.ts';\n" };
  expect(await complaints('figures', shared)).toEqual([]);
  const elsewhere = {
    'src/core/graph/deep/part.ts': '',
    'src/core/graph/other.ts': "import './deep/part.ts';\n",
  };
  expect(await complaints('figures', { ...fragments(30), ...elsewhere })).toEqual([]);
});

test('[HOUSE-15] the top of src/engine holds 12 files', async () => {
  const engine = files(12, (number) => `src/engine/file-${number}.ts`);
  expect(await complaints('figures', { ...engine, 'src/engine/calls/call-tool.ts': '' })).toEqual([]);
  expect(await complaints('figures', { ...engine, 'src/engine/one-more.ts': '' })).toEqual([
    'src/engine has 13, at most 12, files beside its folders: move some into the service they belong to',
  ]);
});

test('[HOUSE-15] the tree itself stays within these figures', () => {
  expect(runCheck('--only', 'figures')).toMatchObject({ exitCode: 0, stderr: '' });
});
